"""The edge: what stands between players' own transports and the service."""
