"""Programs around the service: each is loaded by the command that needs it."""
