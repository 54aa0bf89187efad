"""The gRPC service for Erqiwang, and the command `erqiwang`."""
