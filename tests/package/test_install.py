"""A C or C++ program finds an installed library through CMake and pkg-config, wherever the folder lies.

The programs are the examples: each checks its own results, and ends with status 0 if they are right.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest

from package.weight import OLDEST, needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = {"linux": "libpaddlemps.so", "darwin": "libpaddlemps.dylib"}[sys.platform]
pytestmark = pytest.mark.sampled(3, 1)  # it installs the library and builds the examples

STRICT = "-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
EXAMPLES = sorted(str(p.relative_to(ROOT / "examples")) for p in (ROOT / "examples").glob("c*/*.c*"))


def run(*command: object, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(c) for c in command], env={**os.environ, **(env or {})}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The library installed, and then moved: nothing in it may remember where it was."""
    folder = tmp_path_factory.mktemp("install")
    run("sh", ROOT / "build.sh", "install", folder / "here")
    (folder / "here").rename(folder / "there")
    return folder / "there"


@pytest.fixture(scope="session")
def examples(prefix: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The examples that were installed, built by CMake with every warning an error."""
    folder = tmp_path_factory.mktemp("examples")
    source = prefix / "share" / "doc" / "paddlemps" / "examples"
    flags = [f"-DCMAKE_C_FLAGS={STRICT}", f"-DCMAKE_CXX_FLAGS={STRICT}"]
    run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", *flags)
    run("cmake", "--build", folder, "--parallel", "2")
    return folder


def test_the_tarball_and_the_backend_have_the_plain_library(prefix: pathlib.Path) -> None:
    """Those load with an old glibc: see test_weight.py."""
    library = prefix / "lib" / NAME
    assert library.read_bytes() == (ROOT / "python" / "paddle_mps" / NAME).read_bytes()
    if sys.platform == "linux":
        found = needs(library)
        assert found.glibc <= OLDEST and not found.packed
        backend = prefix / "backends" / "metal_mps" / "libtriton_metal_mps.so"
        assert backend.resolve() == library.resolve()


def test_there_are_examples_in_both_languages() -> None:
    subjects = {"errors", "dlpack", "streams", "memory", "program", "runs"}
    assert subjects <= {pathlib.Path(e).stem for e in EXAMPLES if e.startswith("c/")}
    assert subjects == {pathlib.Path(e).stem for e in EXAMPLES if e.startswith("cpp/")}


@pytest.mark.parametrize("device", ["auto", "host"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(examples: pathlib.Path, example: str, device: str) -> None:
    pattern = f"^{example}$".replace(".", "\\.")
    said = run("ctest", "--test-dir", examples, "-R", pattern, "--verbose", env={"PADDLE_MPS_DEVICE": device})
    assert "100% tests passed, 0 tests failed out of 1" in said


@pytest.mark.parametrize(("source", "compiler"), [("c/memory.c", "cc -std=c99"), ("cpp/memory.cpp", "c++ -std=c++17")])
def test_pkg_config_says_how_to_compile(
    prefix: pathlib.Path, source: str, compiler: str, tmp_path: pathlib.Path
) -> None:
    where = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "paddlemps", env=where))
    run(*compiler.split(), ROOT / "examples" / source, *flags, "-o", tmp_path / "program")
    run(tmp_path / "program")


def configure(prefix: pathlib.Path, request: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\n"
        f"find_package(paddlemps {request})\nfind_package(paddlemps {request})\n"
        'message(STATUS "found: ${paddlemps_FOUND} ${paddlemps_VERSION}")\n'
    )
    command = ["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("", True),
        ("0.1", True),
        ("0.1.0 EXACT", True),
        ("0.0", False),
        ("0.2", False),
        ("0.1.9", False),
        ("1.0", False),
    ],
)
def test_cmake_compares_versions(prefix: pathlib.Path, request_: str, found: bool, tmp_path: pathlib.Path) -> None:
    assert ("found: 1 0.1.0" in configure(prefix, request_, tmp_path).stdout) is found


def test_cmake_says_what_is_missing(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shutil.copytree(prefix, tmp_path / "copy")
    (tmp_path / "copy" / "lib" / NAME).unlink()
    done = configure(tmp_path / "copy", "REQUIRED", tmp_path)
    assert done.returncode != 0
    assert f"{NAME} is missing" in " ".join(done.stderr.split())


def test_tool_runs(prefix: pathlib.Path) -> None:
    tool = prefix / "bin" / "paddle-mps"
    said = subprocess.run([tool], capture_output=True, text=True)
    assert said.returncode == 2 and "memory-viz" in said.stderr
    assert run(tool, "--version") == "paddle-mps 0.1.0\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("foo", "got command 'foo'; want one of those above"),
        ("demo dance", "demo: got 'dance'; want nothing, ocr, serve or triton"),
        ("demo triton dance", "want add, softmax, attention or the path of a Python file"),
        ("demo triton add softmax", "demo triton: got 2 arguments"),
        ("install", "install: got 0 arguments; want one, the folder"),
        ("install a b", "install: got 2 arguments"),
        ("test foo", "test: got 'foo'; want nothing, long, op NAME, peers, paddle-suite, onnx, "),
        ("test op", "test op: got 0 arguments"),
        ("bench nothing", "bench: got 'nothing'"),
    ],
)
def test_build_script_names_the_mistake(line: str, says: str) -> None:
    done = subprocess.run(["sh", ROOT / "build.sh", *line.split()], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr.splitlines()[-1]
