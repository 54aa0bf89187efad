"""What is on disk: generated from `proto/erqiwang/stored`."""
