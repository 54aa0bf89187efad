"""Programs around the service. Each is loaded only by the command that needs it."""
