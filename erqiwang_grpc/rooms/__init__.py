"""Rooms: the write side. A command is decided, appended, followed and told."""
