"""Torture: a server that is killed again and again under load, and the proof that nothing it said was lost.

`victim` is the server in a child process, `tables` plays on it, `transcript` keeps what each client was told, `checking`
holds that against the store that is left at the end.
"""
