"""The wire: converts between values of the core and messages of `erqiwang.v1`.

The server encodes with `encode` and decodes with `requests`; a client decodes with `decode`. `status` makes a gRPC
status from a refusal or from another reason why a call ends.
"""
