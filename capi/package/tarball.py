"""Packs a folder into a .tar.gz whose bytes depend on nothing but names, modes and contents.

usage: tarball.py FOLDER ARCHIVE

The archive unpacks into one folder, named after the archive. Owners and times are zero: who built it, and
when, makes no difference.
"""

from __future__ import annotations

import gzip
import io
import pathlib
import sys
import tarfile


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    top = pathlib.PurePosixPath(archive.name[: -len(".tar.gz")])
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            tar.add(path, str(top / path.relative_to(folder)), recursive=False, filter=plain)
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


if __name__ == "__main__":
    pack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
