"""Messages in proto JSON, fields with their default values included."""

from google.protobuf import json_format
from google.protobuf.message import Message


def written(message: Message) -> bytes:
    """The message as JSON without spaces."""
    return json_format.MessageToJson(message, always_print_fields_with_no_presence=True, indent=None).encode()
