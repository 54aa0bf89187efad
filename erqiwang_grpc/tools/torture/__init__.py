"""Torture: kills a server again and again under load, and checks that nothing it told its clients was lost.

Read `command` first. `victim` is the server in a child process, `tables` plays on it, `transcript` keeps what each
client was told, and `checking` compares that with the store at the end.
"""
