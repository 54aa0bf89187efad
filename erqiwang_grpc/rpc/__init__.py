"""All that is gRPC: the server, its services, and the codecs in `wire`."""
