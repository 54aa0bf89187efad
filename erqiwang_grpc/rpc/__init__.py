"""The gRPC transport: the server, its services, and the codecs in `wire`."""
