"""The source archive builds a wheel, and the wheel works in an environment with nothing else.

The chain is the one of a user who has no checkout: archive -> wheel -> empty environment.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = {"linux": "libpaddlemps.so", "darwin": "libpaddlemps.dylib"}[sys.platform]

PROGRAM = """
import numpy, paddle_mps as paddle
x = paddle.to_tensor([1.0, 2.0], place="mps")
assert paddle.get_device() == "cpu"
numpy.testing.assert_array_equal((x + x).numpy(), [2.0, 4.0])
print(paddle.__version__, paddle.__file__)
"""


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
    assert platform.startswith({"linux": "linux_", "darwin": "macosx_13_0_"}[sys.platform])
    header = (ROOT / "include" / "paddlemps.h").read_text()
    assert f'#define PMPS_VERSION "{version}"' in header
    metadata = zipfile.ZipFile(wheel).read(f"{name}-{version}.dist-info/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.9\n" in metadata


def test_wheel_holds_library_types_and_licences(wheel: pathlib.Path) -> None:
    sizes = {i.filename: i.file_size for i in zipfile.ZipFile(wheel).infolist()}
    assert [n for n in sizes if "libpaddlemps" in n] == [f"paddle_mps/{LIBRARY}"]
    assert sizes[f"paddle_mps/{LIBRARY}"] <= 8_000_000
    for ending in ("paddle_mps/py.typed", "licenses/LICENSE", "licenses/THIRD_PARTY_LICENSES.md"):
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
