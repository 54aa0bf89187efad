"""The wire: between the values of the core and the messages of `erqiwang.v1`.

`encode` is the server's way out and `decode` its way in; `read` is a client's way in. `rulings` says of every refusal
what its reason is called and which codes it has, `status` makes a gRPC status of it, and `fold` keeps a view up to date.
"""
