"""What `./build.sh darwin` makes, read as a Mac would read it: library, tool, wheel and tarball.

Nothing here runs what was built; tests/machorun does.
"""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import io
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import zipfile

import lief
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "darwin-arm64"
LIBRARY = BUILT / "libpaddlemps.dylib"
TOOL = BUILT / "paddle-mps"
VERSION = re.findall(r'#define PMPS_VERSION "(.*)"', (ROOT / "include" / "paddlemps.h").read_text())[0]
WHEEL = ROOT / "dist" / f"paddle_mps-{VERSION}-py3-none-macosx_13_0_arm64.whl"
TARBALL = ROOT / "dist" / f"paddlemps-{VERSION}-macos-arm64.tar.gz"

pytestmark = pytest.mark.sampled(3, 0)  # it builds everything for another system

PAGE = 0x4000  # of memory on Apple silicon
SYSTEM = {
    "/usr/lib/libSystem.B.dylib",
    "/usr/lib/libresolv.9.dylib",
    "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
}
# The tool has a server, whose certificates Go checks by this framework.
CERTIFICATES = "/System/Library/Frameworks/Security.framework/Versions/A/Security"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """Builds what is stale, with the compiler that build.sh picks."""
    env = {k: v for k, v in os.environ.items() if k not in ("GOOS", "GOARCH", "CC")}
    done = subprocess.run(["sh", "build.sh", "darwin"], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@functools.cache
def parsed(path: pathlib.Path) -> lief.MachO.FatBinary:
    """The file, kept: what is asked of it points into it."""
    fat = lief.MachO.parse(str(path))
    assert fat is not None and len(fat) == 1
    return fat


def image(path: pathlib.Path) -> lief.MachO.Binary:
    binary = parsed(path).at(0)
    assert binary is not None
    return binary


both = pytest.mark.parametrize("path", [LIBRARY, TOOL], ids=["library", "tool"])


@both
def test_is_for_apple_silicon_and_macos_13(path: pathlib.Path) -> None:
    binary = image(path)
    assert binary.header.cpu_type == lief.MachO.Header.CPU_TYPE.ARM64
    assert binary.build_version is not None
    assert binary.build_version.platform == lief.MachO.BuildVersion.PLATFORMS.MACOS
    assert list(binary.build_version.minos) == [13, 0, 0]
    kind = lief.MachO.Header.FILE_TYPE
    assert binary.header.file_type == (kind.DYLIB if path == LIBRARY else kind.EXECUTE)


@both
def test_depends_on_the_system_alone(path: pathlib.Path) -> None:
    named = [library.name for library in image(path).libraries]
    if path == LIBRARY:
        assert named.pop(0) == "@rpath/libpaddlemps.dylib", "the first is the library's own name"
    assert set(named) == (SYSTEM if path == LIBRARY else SYSTEM | {CERTIFICATES})
    assert not list(image(path).rpaths)


def test_exports_the_list_and_nothing_else() -> None:
    wanted = {"_" + name for name in (ROOT / "capi" / "exports.txt").read_text().split()}
    assert {str(symbol.name) for symbol in image(LIBRARY).exported_symbols} == wanted


@both
@pytest.mark.skipif(sys.platform == "darwin", reason="Apple's compiler makes calls of its own")
def test_imports_are_those_listed_for_it(path: pathlib.Path) -> None:
    """The linker lets through what is listed for tests, too; the product is held to its own part."""
    text = (ROOT / "capi" / "darwin" / "lib" / "libSystem.tbd").read_text()
    parts = dict(re.findall(r"# What (.*?)\.\n.*?symbols: \[(.*?)\]", text, re.DOTALL))
    library, tool = parts["the library imports"], parts["the tool imports besides"]
    if path == TOOL:
        others = [
            *(ROOT / "capi" / "darwin" / "frameworks").rglob("*.tbd"),
            ROOT / "capi" / "darwin" / "lib" / "libresolv.tbd",
        ]
        tool += "".join(re.findall(r"symbols: \[(.*?)\]", "".join(p.read_text() for p in others), re.DOTALL))
    listed = re.findall(r"\w+", library if path == LIBRARY else library + tool)
    assert {str(symbol.name) for symbol in image(path).imported_symbols} <= set(listed)


@both
def test_segments_fit_the_pages_of_a_mac(path: pathlib.Path) -> None:
    for segment in image(path).segments:
        assert segment.virtual_address % PAGE == 0 and segment.file_offset % PAGE == 0, segment.name
        assert segment.init_protection & 6 != 6, segment.name  # not written and executed
        for section in segment.sections:
            if section.name in ("__thread_vars", "__mod_init_func", "__got", "__la_symbol_ptr"):
                assert section.virtual_address % 8 == 0, section.name  # it holds pointers


@both
def test_has_no_path_of_the_machine_that_built_it(path: pathlib.Path) -> None:
    assert os.fsencode(ROOT) not in path.read_bytes()


@both
def test_signature_is_that_of_every_page(path: pathlib.Path) -> None:
    """Apple silicon runs nothing that is not signed; without an identity the signature is hashes alone."""
    data = path.read_bytes()
    command = image(path).code_signature
    assert command is not None and command.data_offset % 16 == 0
    assert command.data_offset + command.data_size == len(data)
    magic, _, count, slot, at = struct.unpack_from(">5I", data, command.data_offset)
    assert (magic, count, slot) == (0xFADE0CC0, 1, 0), "one blob, the code directory"
    directory = data[command.data_offset + at :]
    fields = struct.unpack_from(">9I4B", directory)
    magic, _, version, flags, hashes, _, special, pages, limit, size, kind, _, shift = fields
    assert (magic, version, special) == (0xFADE0C02, 0x20400, 0)
    assert flags == 0x20002, "signed by the linker, without an identity"
    assert (size, kind, limit) == (32, 2, command.data_offset), "SHA-256 of all that comes before"
    page = 1 << shift
    assert pages == -(-limit // page)
    for i in range(pages):
        wanted = directory[hashes + i * size : hashes + (i + 1) * size]
        assert hashlib.sha256(data[i * page : min((i + 1) * page, limit)]).digest() == wanted, f"page {i}"


def test_wheel_is_the_package_with_the_library() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        assert wheel.testzip() is None
        names = set(wheel.namelist())
        about = f"paddle_mps-{VERSION}.dist-info"
        assert "Root-Is-Purelib: false\nTag: py3-none-macosx_13_0_arm64" in wheel.read(f"{about}/WHEEL").decode()
        assert wheel.read("paddle_mps/libpaddlemps.dylib") == LIBRARY.read_bytes()
    package = ROOT / "python" / "paddle_mps"
    sources = {str(p.relative_to(package.parent)) for p in package.rglob("*") if p.suffix in (".py", ".pyi", ".typed")}
    described = {f"{about}/{n}" for n in ("METADATA", "WHEEL", "RECORD")}
    licences = {f"{about}/licenses/{n}" for n in ("LICENSE", "THIRD_PARTY_LICENSES.md")}
    assert {"paddle_mps/py.typed", "paddle_mps/__init__.py"} <= names
    assert sources | described | licences | {"paddle_mps/libpaddlemps.dylib"} <= names
    assert {"paddle_mps_triton/__init__.py", "paddle_mps/bin/paddle-mps"} <= names
    ours = ("paddle_mps/", "paddle_mps_triton/", f"{about}/")
    assert not [n for n in names if not n.startswith(ours) or n.endswith((".so", ".pyc"))]


def test_wheel_records_what_it_holds() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        record = f"paddle_mps-{VERSION}.dist-info/RECORD"
        rows = {name: rest for name, *rest in csv.reader(io.StringIO(wheel.read(record).decode()))}
        assert set(rows) == set(wheel.namelist())
        for name, (digest, size) in rows.items():
            if name == record:
                continue
            data = wheel.read(name)
            sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={sha}", len(data)), name


@pytest.mark.parametrize(
    ("platform", "taken"),
    [
        ("macosx_13_0_arm64", True),
        ("macosx_26_0_arm64", True),
        ("macosx_12_0_arm64", False),
        ("macosx_13_0_x86_64", False),
    ],
)
def test_pip_takes_the_wheel_where_it_runs(platform: str, taken: bool, tmp_path: pathlib.Path) -> None:
    command = ["download", "--no-deps", "--no-index", "--only-binary=:all:", "--platform", platform, "-d", tmp_path]
    done = subprocess.run([sys.executable, "-m", "pip", *map(str, command), WHEEL], capture_output=True, text=True)
    assert (done.returncode == 0) is taken, done.stderr
    assert taken or "is not a supported wheel on this platform" in done.stderr


def test_tarball_is_one_folder_that_finds_itself() -> None:
    top = TARBALL.name[: -len(".tar.gz")]
    with tarfile.open(TARBALL) as tar:
        members = {m.name.partition("/")[2]: m for m in tar if m.isfile()}
        assert all(m.name.startswith(f"{top}/") for m in members.values())
        texts = {n: tar.extractfile(m).read() for n, m in members.items()}  # type: ignore[union-attr]
    assert texts["lib/libpaddlemps.dylib"] == LIBRARY.read_bytes()
    assert texts["bin/paddle-mps"] == TOOL.read_bytes() and members["bin/paddle-mps"].mode == 0o755
    for name in ("paddlemps.h", "paddlemps_ops.h", "paddlemps.hpp", "paddlemps_ops.hpp"):
        assert texts[f"include/{name}"] == (ROOT / "include" / name).read_bytes()
    assert f"Version: {VERSION}\n".encode() in texts["lib/pkgconfig/paddlemps.pc"]
    assert b'IMPORTED_SONAME "@rpath/libpaddlemps.dylib"' in texts["lib/cmake/paddlemps/paddlemps-config.cmake"]
    for folder, pattern in (("c", "*.[ch]"), ("cpp", "*.cpp")):
        for path in (ROOT / "examples" / folder).glob(pattern):
            assert texts[f"share/doc/paddlemps/examples/{folder}/{path.name}"] == path.read_bytes()
    for name, text in texts.items():
        filled_in = not name.startswith("lib/cmake/") and not name.endswith(".pc")
        assert filled_in or not re.search(rb"@[A-Z]+@|" + re.escape(os.fsencode(ROOT)), text), name


def test_tarball_does_not_depend_on_who_packs_it(tmp_path: pathlib.Path) -> None:
    again = tmp_path / TARBALL.name
    subprocess.run([sys.executable, "capi/package/tarball.py", BUILT / "prefix", again], cwd=ROOT, check=True)
    assert again.read_bytes() == TARBALL.read_bytes()
    with tarfile.open(again) as tar:
        assert {(m.uid, m.gid, m.uname, m.mtime) for m in tar} == {(0, 0, "", 0)}
