"""What is on disk: generated from proto/erqiwang/stored/v1 by proto/generate.py."""
