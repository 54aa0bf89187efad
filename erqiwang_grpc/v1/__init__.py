"""The wire: generated from proto/erqiwang/v1 by proto/generate.py."""
