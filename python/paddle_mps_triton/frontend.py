"""Writes Triton's Python files without its compiled module, for machines without a wheel: `paddle-mps triton frontend`.

    python -m paddle_mps_triton.frontend SOURCE DIR

SOURCE is the user's own copy of Triton 3.6 to 3.9: a wheel for any platform, an archive or folder of its source, or a folder
that a wheel was unpacked in. DIR gets its Python files, with `libtriton` of this package in place of the compiled module,
and is put on PYTHONPATH. Nothing is downloaded, and no file of Triton is changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence

VERSIONS = ((3, 6), (3, 9))  # from, to
STAND_IN = pathlib.Path(__file__).resolve().parent / "libtriton"
MARK = "written by paddle-mps"  # in METADATA: what may be replaced
# Compiled code, back ends of other GPUs and what belongs to them.
WITHOUT = re.compile(r"_C/|backends/(nvidia|amd)/|profiler/|instrumentation/|plugins/|include/|FileCheck")
# A checkout has these elsewhere; a build of Triton copies them.
ELSEWHERE = {
    "language/extra/cuda/": "third_party/nvidia/language/cuda/",
    "language/extra/hip/": "third_party/amd/language/hip/",
}
NEEDED = (
    "runtime/jit.py",
    "compiler/compiler.py",
    "compiler/code_generator.py",
    "language/core.py",
    "language/semantic.py",
    "backends/compiler.py",
    "backends/driver.py",
    "language/extra/cuda/libdevice.py",
)


class Source:
    """Files of a folder or archive, by their paths in it."""

    def __init__(self, path: pathlib.Path):
        self.path, self.archive = path, None if path.is_dir() else zipfile.ZipFile(path)

    def names(self) -> Iterator[str]:
        """Paths of all files, but for those that are certainly none of Triton's Python files."""
        if self.archive is not None:
            yield from (n for n in self.archive.namelist() if not n.endswith("/"))
            return
        for folder, inside, files in os.walk(self.path):
            inside[:] = [d for d in inside if d not in (".git", "__pycache__", "node_modules", "build", "test")]
            base = pathlib.Path(folder).relative_to(self.path)
            yield from ((base / f).as_posix() for f in files)

    def read(self, name: str) -> bytes:
        return self.archive.read(name) if self.archive is not None else (self.path / name).read_bytes()


def root_of(names: Sequence[str]) -> str | None:
    """The folder of the package: where runtime/jit.py or language/core.py are, beside an __init__.py."""
    found = [n[: -len("__init__.py")] for n in names if n == "__init__.py" or n.endswith("triton/__init__.py")]
    every = set(names)
    found = [f for f in found if f + "runtime/jit.py" in every or f + "language/core.py" in every]
    return min(found, key=len, default=None)


def version_of(text: str, path: pathlib.Path) -> str:
    """The version in triton/__init__.py.

    Raises:
        ValueError: it has none, or one that is not supported.
    """
    found = re.search(r"^__version__ *= *['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    if not found:
        raise ValueError(f"{path} does not say which version of Triton it is; want __version__ in triton/__init__.py")
    numbers = re.match(r"(\d+)\.(\d+)", found[1])
    if not numbers or not VERSIONS[0] <= (int(numbers[1]), int(numbers[2])) <= VERSIONS[1]:
        raise ValueError(f"{path} is Triton {found[1]}; want 3.6 to 3.9")
    return found[1]


def files_of(source: Source) -> tuple[str, dict[str, bytes]]:
    """The version and Python files of a Triton, by their paths in the package.

    Raises:
        ValueError: it is none, of another version, or not whole.
    """
    names = list(source.names())
    root = root_of(names)
    if root is None:
        raise ValueError(f"{source.path} has no Triton; want a wheel, a checkout, or a folder with triton/__init__.py")
    version = version_of(source.read(root + "__init__.py").decode(), source.path)
    chosen = {
        n[len(root) :]: n
        for n in names
        if n.startswith(root) and n.endswith(".py") and not WITHOUT.match(n[len(root) :])
    }
    above = root[: -len("python/triton/")] if root.endswith("python/triton/") else None
    for inside, outside in ELSEWHERE.items():
        if above is not None and not any(n.startswith(inside) for n in chosen):
            outside = above + outside
            chosen |= {inside + n[len(outside) :]: n for n in names if n.startswith(outside) and n.endswith(".py")}
    for needed in NEEDED:
        if needed not in chosen:
            other = next((f" (or {ELSEWHERE[i]}{needed[len(i) :]})" for i in ELSEWHERE if needed.startswith(i)), "")
            raise ValueError(f"{source.path} is not whole: it has no {root}{needed}{other}")
    files = {path: source.read(name) for path, name in chosen.items()}
    license_at = min(
        (n for n in names if n.rsplit("/", 1)[-1] == "LICENSE" and "third_party" not in n), key=len, default=""
    )
    if license_at:
        files["LICENSE"] = source.read(license_at)
    return version, files


def metadata(version: str) -> str:
    return (
        f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n"
        f"Summary: Python files of Triton, with libtriton of paddle-mps; {MARK}\n"
    )


def write(source: pathlib.Path, folder: pathlib.Path) -> str:
    """Writes the package into a folder, and returns its version. What was written there before is replaced.

    Raises:
        ValueError: the source is no Triton that is supported, or the folder has another one.
        OSError: a file cannot be read or written.
    """
    if not source.exists():
        raise ValueError(f"{source} does not exist; want a wheel, a checkout, or a folder with triton/__init__.py")
    try:
        version, files = files_of(Source(source))
    except zipfile.BadZipFile:
        raise ValueError(f"{source} is neither a folder nor a wheel") from None
    folder.mkdir(parents=True, exist_ok=True)
    replaced = [folder / "triton", *folder.glob("triton-*.dist-info")]
    present = [p for p in replaced if p.exists()]
    if present and not any(MARK in (p / "METADATA").read_text() for p in replaced[1:] if (p / "METADATA").exists()):
        raise ValueError(f"{present[0]} exists, and is not {MARK}; want another folder")
    # A second folder, so that a failure leaves what was there.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".triton-") as made:
        package, info = pathlib.Path(made, "triton"), pathlib.Path(made, f"triton-{version}.dist-info")
        info.mkdir()
        (info / "METADATA").write_text(metadata(version))
        (info / "INSTALLER").write_text("paddle-mps\n")
        if "LICENSE" in files:
            (info / "LICENSE").write_bytes(files.pop("LICENSE"))
        for name, content in files.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        stand_in(package / "_C")
        for path in present:
            shutil.rmtree(path)
        for path in (package, info):
            path.rename(folder / path.name)
    return version


def stand_in(folder: pathlib.Path) -> None:
    """Writes what takes the compiled module's place, and the file that Triton hashes for it: the package is imported."""
    digest = hashlib.sha256()
    (folder / "libtriton").mkdir(parents=True)
    (folder / "__init__.py").touch()
    for path in sorted(STAND_IN.glob("*.py")):
        content = path.read_bytes()
        digest.update(content)
        (folder / "libtriton" / path.name).write_bytes(content)
    (folder / "libtriton.so").write_text(digest.hexdigest() + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="paddle-mps triton frontend", description="writes Triton's Python files with a libtriton for any machine"
    )
    parser.add_argument(
        "source", metavar="SOURCE", type=pathlib.Path, help="a wheel, a checkout or an unpacked wheel of Triton"
    )
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path, help="where the package goes")
    given = parser.parse_args(arguments)
    try:
        version = write(given.source, given.folder)
    except (OSError, ValueError) as error:
        print(f"paddle-mps triton frontend: {error}", file=sys.stderr)
        return 1
    print(f"{given.folder / 'triton'}: Triton {version}; put {given.folder} on PYTHONPATH, or in site-packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
