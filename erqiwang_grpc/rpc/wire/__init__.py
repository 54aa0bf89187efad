"""The wire: between the values of the core and the messages of `erqiwang.v1`.

`encode` is the server's way out, `requests` its way in, and `decode` a client's way in. `status` makes a gRPC status of a
refusal, or of another reason why a call ends; `errors_doc` writes `docs/errors.md`.
"""
