"""Source distributions whose bytes depend on their sources alone."""

import gzip
import io
import os
import tarfile
from pathlib import Path


def repack(archive: Path) -> None:
    """Write a `.tar.gz` again: sorted, owned by nobody, all of the time that `SOURCE_DATE_EPOCH` names.

    Without that variable nothing changes.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return
    packed = io.BytesIO()
    with (
        tarfile.open(archive) as old,
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=int(epoch)) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            content = old.extractfile(member) if member.isfile() else None
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, int(epoch)
            plain.mode = 0o755 if member.isdir() else 0o644
            new.addfile(plain, content)
    archive.write_bytes(packed.getvalue())
