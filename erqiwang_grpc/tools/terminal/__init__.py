"""A match in a terminal: what a seat is told and asked, in words, for people."""
