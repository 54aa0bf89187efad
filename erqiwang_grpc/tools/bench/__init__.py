"""The bench: scripted seats on real streams, against the server and against a relay that only passes their messages on."""
