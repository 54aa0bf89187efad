"""Rooms: the write side. A room decides a command, appends its events to the store, and tells its listeners."""
