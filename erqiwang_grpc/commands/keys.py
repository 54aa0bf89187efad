"""`erqiwang keys`: makes, lists and removes keys of platforms, and makes fresh keys that sign seat tokens."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from erqiwang_grpc.auth.files import (
    PLATFORM_KEYS,
    SIGNING_KEYS,
    KeyFileRefused,
    add_platform_key,
    prepare_signing_key,
    read_platform_keys,
    remove_platform_key,
    rotate_signing_key,
    sign_with_prepared,
)
from erqiwang_grpc.auth.keys import Scope, platform_id
from erqiwang_grpc.commands import data_folder, folding

DONE: Final = 0
NOT_DONE: Final = 2
_KEPT: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `keys`."""
    parser.epilog = "A running server reads its key files again on SIGHUP."
    actions = parser.add_subparsers(metavar="action", required=True)
    add = actions.add_parser("add", help="give a platform one more key, which is printed and kept nowhere")
    add.add_argument("platform", help="its name: small letters, digits and hyphens")
    add.add_argument(
        "--scope",
        choices=[scope.label for scope in Scope],
        default=Scope.PLATFORM.label,
        help="what the key opens: the platform's rooms, or a gateway for its seats and nothing else (default: platform)",
    )
    add.add_argument("--platform-keys", type=Path, help="the key file (default: in the data folder)")
    data_folder.add_data_option(add)
    add.set_defaults(parser=add, run=add_key)
    shown = actions.add_parser(
        "list",
        help="show the keys of platforms: platform, scope, fingerprint",
        epilog="A fingerprint is the first 12 digits of the key's SHA-256. The keys themselves are kept nowhere.",
    )
    shown.add_argument("--platform-keys", type=Path, help="the key file (default: in the data folder)")
    data_folder.add_data_option(shown)
    shown.set_defaults(parser=shown, run=list_keys)
    remove = actions.add_parser(
        "remove", help="remove one key of a platform, which opens nothing from the next reload on"
    )
    remove.add_argument("fingerprint", help="the fingerprint that `list` shows")
    remove.add_argument("--platform-keys", type=Path, help="the key file (default: in the data folder)")
    data_folder.add_data_option(remove)
    remove.set_defaults(parser=remove, run=remove_key)
    prepare = actions.add_parser(
        "prepare-signing",
        help="add a fresh key that verifies seat tokens and does not sign them yet",
        epilog="Where several servers share a store, each must know a key before one of them signs with it. Copy the file to "
        "all of them and have all of them read it; then do the same with `rotate-signing --prepared`.",
    )
    prepare.add_argument("--signing-keys", type=Path, help="the key file (default: in the data folder)")
    data_folder.add_data_option(prepare)
    prepare.set_defaults(parser=prepare, run=prepare_signing)
    rotate = actions.add_parser("rotate-signing", help="sign seat tokens with a fresh key")
    rotate.add_argument("--signing-keys", type=Path, help="the key file (default: in the data folder)")
    rotate.add_argument(
        "--keep", type=int, default=_KEPT, help=f"number of older keys that still verify (default: {_KEPT})"
    )
    rotate.add_argument(
        "--prepared",
        action="store_true",
        help="sign with the key that `prepare-signing` has added, not with another one",
    )
    data_folder.add_data_option(rotate)
    rotate.set_defaults(parser=rotate, run=rotate_signing)


def add_key(arguments: Namespace) -> int:
    """Make one more key for a platform, and print it. Gives 2 if that fails, with advice on standard error."""
    platform = platform_id(arguments.platform)
    if platform is None:
        return _refused(f"{arguments.platform!r} is no platform's name: small letters, digits and hyphens, at most 63")
    path = arguments.platform_keys or arguments.data / PLATFORM_KEYS
    key = add_platform_key(path, platform, Scope[arguments.scope.upper()])
    if isinstance(key, KeyFileRefused):
        return _refused(f"{key.path}: {key.why}")
    print(key)
    return DONE


def list_keys(arguments: Namespace) -> int:
    """Print platform, scope and fingerprint of each key. Gives 2 if that fails, with advice on standard error."""
    known = read_platform_keys(arguments.platform_keys or arguments.data / PLATFORM_KEYS)
    if isinstance(known, KeyFileRefused):
        return _refused(f"{known.path}: {known.why}")
    for key in known.keys:
        print(f"{key.platform} {key.scope.label} {key.fingerprint}")
    return DONE


def remove_key(arguments: Namespace) -> int:
    """Remove one key. Gives 2 if that fails, with advice on standard error."""
    path = arguments.platform_keys or arguments.data / PLATFORM_KEYS
    removed = remove_platform_key(path, arguments.fingerprint)
    if isinstance(removed, KeyFileRefused):
        return _refused(f"{removed.path}: {removed.why}")
    what = f"the {removed.scope.label} key {removed.fingerprint} of {removed.platform}"
    folding.say([f"{path}: {what} is removed, and opens nothing from the next reload on"])
    return DONE


def prepare_signing(arguments: Namespace) -> int:
    """Add a signing key that only verifies. Gives 2 if that fails, with advice on standard error."""
    path = arguments.signing_keys or arguments.data / SIGNING_KEYS
    refused = prepare_signing_key(path)
    if refused is not None:
        return _refused(f"{refused.path}: {refused.why}")
    folding.say([f"{path}: a fresh key verifies from the next reload on, and does not sign yet"])
    return DONE


def rotate_signing(arguments: Namespace) -> int:
    """Add a fresh signing key to the file. Gives 2 if that fails, with advice on standard error."""
    if arguments.keep < 0:
        return _refused("--keep takes no negative number")
    path = arguments.signing_keys or arguments.data / SIGNING_KEYS
    rotated = sign_with_prepared if arguments.prepared else rotate_signing_key
    refused = rotated(path, arguments.keep)
    if refused is not None:
        return _refused(f"{refused.path}: {refused.why}")
    which = "the prepared key" if arguments.prepared else "a fresh key"
    folding.say([f"{path}: {which} signs from the next reload on; the last {arguments.keep} before it still verify"])
    return DONE


def _refused(why: str) -> int:
    print(f"erqiwang keys: {why}", file=sys.stderr)
    return NOT_DONE
