"""The source archive builds a wheel, and the wheel works in an environment with nothing else.

The chain is the one of a user who has no checkout: archive -> wheel -> empty environment.
"""

from __future__ import annotations

import email
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.message import Message

import pytest

from package.weight import needs, within

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = {"linux": "libpaddlemps.so", "darwin": "libpaddlemps.dylib"}[sys.platform]

PROGRAM = """
import numpy, paddle_mps as paddle
x = paddle.to_tensor([1.0, 2.0], place="mps")
assert paddle.get_device() == "cpu"
numpy.testing.assert_array_equal((x + x).numpy(), [2.0, 4.0])
print(paddle.__version__, paddle.__file__)
"""


pytestmark = pytest.mark.sampled(3, 2)  # it builds a wheel from an archive


def run(*command: object, **kwargs: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("archive")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="session")
def wheel(archive: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, archive)
    return next(folder.glob("*.whl"))


def test_archive_has_sources_and_no_library(archive: pathlib.Path) -> None:
    with tarfile.open(archive) as tar:
        names = [name.partition("/")[2] for name in tar.getnames()]
    for wanted in ("build.sh", "hatch_build.py", "go.mod", "go.sum", "capi/exports.txt", "LICENSE"):
        assert wanted in names
    assert not [name for name in names if name.endswith((".so", ".dylib", ".pyc"))]


def test_wheel_is_named_after_version_and_platform(wheel: pathlib.Path) -> None:
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("paddle_mps", "py3", "none")
    assert platform.startswith({"linux": ("linux_", "manylinux_2_"), "darwin": ("macosx_13_0_",)}[sys.platform])
    header = (ROOT / "include" / "paddlemps.h").read_text()
    assert f'#define PMPS_VERSION "{version}"' in header
    metadata = zipfile.ZipFile(wheel).read(f"{name}-{version}.dist-info/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.9\n" in metadata


@pytest.fixture(scope="session")
def metadata(wheel: pathlib.Path) -> Message:
    with zipfile.ZipFile(wheel) as file:
        name = next(n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(file.read(name))


def test_metadata_is_what_an_index_shows(metadata: Message) -> None:
    assert metadata["Author"] == "The paddle-mps authors"
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} == set(urls)
    assert all(url.startswith("https://") for url in urls.values())
    classifiers = metadata.get_all("Classifier", [])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(9, 15)} <= set(classifiers)
    assert metadata.get_all("Provides-Extra") is None, "what developers need is no extra"
    assert metadata.get_all("Requires-Dist") == ["numpy>=1.21"]


def test_links_of_the_description_are_absolute(metadata: Message) -> None:
    """An index has none of the files that the README links to; each of them is in the checkout."""
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = str(metadata.get_payload(decode=True).decode())  # type: ignore[union-attr]
    readme = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(links) == len(re.findall(r"\]\(", readme)) > 20
    assert [link for link in links if not re.match(r"https://|#", link)] == []
    raw, blob = (
        "https://raw.githubusercontent.com/paddle-mps/paddle-mps/main/",
        "https://github.com/paddle-mps/paddle-mps/blob/main/",
    )
    ours = [
        link.removeprefix(raw).removeprefix(blob).partition("#")[0] for link in links if link.startswith((raw, blob))
    ]
    assert len(ours) > 20 and [name for name in ours if not (ROOT / name).exists()] == []
    assert re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text) == [link for link in links if link.startswith(raw)]
    assert re.sub(r"\]\([^)]*\)", "]", text) == re.sub(r"\]\([^)]*\)", "]", readme), "the rest is the README"


@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        ("go", "Go 1.26 or later (found: none) is missing"),
        ("cc", "a C compiler (gcc) is missing"),
        ("sh", "there is no sh"),
    ],
)
def test_a_build_says_what_is_missing(archive: pathlib.Path, tmp_path: pathlib.Path, lacks: str, says: str) -> None:
    """pip, with a PATH that has what the build uses but for one program: it ends with what to install, and without
    a traceback."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tools = {"go", "gcc", "sh", "sed", "dirname", "uname", "mkdir", "find", "cp", "mv", "rm", "cat"}
    for tool in tools - {lacks, "gcc" if lacks == "cc" else ""}:
        (folder / tool).symlink_to(shutil.which(tool) or "")
    env = {
        **{k: v for k, v in os.environ.items() if k not in ("CC", "GOOS", "GOARCH")},
        "PATH": str(folder),
        "CC": "gcc",
    }
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, archive]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and says in said, said
    assert "Traceback" not in said
    assert lacks == "sh" or "docs/install.md" in said


def test_the_library_loads_where_pip_installs_the_wheel(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Packed relocations and new symbols need a new glibc: the tag names it, and pip refuses the wheel on an older one."""
    if sys.platform != "linux":
        pytest.skip("macOS has one C library for each of its versions, which the tag names")
    path = pathlib.Path(zipfile.ZipFile(wheel).extract(f"paddle_mps/{LIBRARY}", tmp_path))
    found, platform = needs(path), wheel.stem.split("-")[-1]
    assert found.libraries == ["libc.so.6"]
    claimed = re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", platform)
    assert found.packed == bool(claimed)
    if claimed:
        assert (int(claimed[1]), int(claimed[2])) == max((2, 36), found.glibc)


def test_wheel_holds_library_types_and_licences(wheel: pathlib.Path) -> None:
    sizes = {i.filename: i.file_size for i in zipfile.ZipFile(wheel).infolist()}
    assert [n for n in sizes if "libpaddlemps" in n] == [f"paddle_mps/{LIBRARY}"]
    if sys.platform == "linux":
        packed = "-manylinux_" in wheel.name
        within("wheel" if packed else "plain", sizes[f"paddle_mps/{LIBRARY}"])
    for ending in (
        "paddle_mps/py.typed",
        "paddle_mps/memory_viz/page.html",
        "paddle_mps/memory_viz/page.js",
        "licenses/LICENSE",
        "licenses/THIRD_PARTY_LICENSES.md",
    ):
        assert [n for n in sizes if n.endswith(ending)], ending
    assert not [n for n in sizes if n.endswith((".go", ".h", ".pyc"))]


def test_wheel_works_in_an_empty_environment(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    said = run(python, "-c", PROGRAM, cwd=tmp_path, env={**env, "PADDLE_MPS_DEVICE": "host"})
    assert str(home) in said, "the package must come from the wheel, not from the checkout"

    # The command, which is started by its name alone.
    env["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    tool = shutil.which("paddle-mps", path=env["PATH"])
    assert tool == str(home / "bin" / "paddle-mps")
    version = run(tool, "--version", env=env).split()
    assert version[0] == "paddle-mps" and version[1] in wheel.name
    assert "backend" in run(tool, "collect-env", env=env)
    assert "memory-viz" in run(tool, "--help", env=env)
    run(python, "-c", "import paddle_mps; paddle_mps.mps.dump_snapshot('s.json', 'cpu')", cwd=tmp_path, env=env)
    assert run(tool, "memory-viz", "s.json", cwd=tmp_path, env=env) == "s.html\n"
    assert "Memory of cpu" in (tmp_path / "s.html").read_text()


def interpreter(minor: int) -> str | None:
    """A Python 3.minor that makes environments: of the PATH, or of pyenv."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    named = shutil.which(f"python3.{minor}")
    found = [named] if named else []
    found += [str(p) for p in sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python"), reverse=True)]
    code = "import ensurepip, sys, venv; print(sys.version_info.minor)"
    for python in found:  # a name may be pyenv's, of a version that is not selected
        done = subprocess.run([python, "-c", code], capture_output=True, text=True)
        if done.stdout == f"{minor}\n":
            return python
    return None


@pytest.mark.sampled(7)
@pytest.mark.parametrize("minor", range(9, 15))
def test_pip_installs_the_archive(archive: pathlib.Path, tmp_path: pathlib.Path, minor: int) -> None:
    """With each Python that this machine has, as a user does: with what pip finds in the index to build and to run it."""
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} here")
    home = tmp_path / "venv"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run(python, "-m", "venv", home, env=env)
    run(home / "bin" / "python", "-m", "pip", "install", "--quiet", archive, env=env)
    said = run(home / "bin" / "python", "-c", PROGRAM, cwd=tmp_path, env={**env, "PADDLE_MPS_DEVICE": "host"})
    assert str(home) in said and f"python3.{minor}" in said
    assert run(home / "bin" / "paddle-mps", "--version", env=env).startswith("paddle-mps ")
