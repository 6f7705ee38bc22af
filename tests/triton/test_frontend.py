"""`paddle-mps triton frontend`: what it takes and refuses, and that what it writes does what the wheel does."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import paddle_mps
from paddle_mps_triton import frontend

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "__version__ = '{}'\n"
KERNELS = """import triton, triton.language as tl
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
@triton.jit
def scaled(x, out):
    at = tl.arange(0, 32)
    v = tl.load(x + at[:, None] * 32 + at[None, :])
    tl.store(out + at[:, None] * 32 + at[None, :], tl.dot_scaled(v, None, "e5m2", v, None, "e5m2"))
"""
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"


def installed() -> pathlib.Path:
    """The folder that the triton of this process is installed in."""
    import triton

    return pathlib.Path(triton.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("frontend")
    frontend.write(installed(), made)
    return made


def python(folder: pathlib.Path, *arguments: str, executable: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """A process that imports the triton in a folder. It can reach no network: proxies lead nowhere."""
    ours = pathlib.Path(paddle_mps.__file__).parents[1]
    paths = os.pathsep.join([str(folder), str(ours), os.environ.get("PYTHONPATH", "")])
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    environment = {**os.environ, **nowhere, "PYTHONPATH": paths, "PADDLE_MPS_TRITON": "1"}
    return subprocess.run([executable, *arguments], capture_output=True, text=True, env=environment)


def tree(path: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def whole(version: str, root: str = "triton/") -> dict[str, str]:
    """The files that every Triton has, empty."""
    return {root + "__init__.py": VERSION.format(version)} | {root + name: "" for name in frontend.NEEDED}


@pytest.mark.parametrize("version", ["3.6.0", "3.7.1", "3.8.0", "3.9.0", "3.9.0+git1234"])
def test_supported_versions(version: str, tmp_path: pathlib.Path):
    tree(tmp_path / "source", whole(version))
    assert frontend.write(tmp_path / "source", tmp_path / "made") == version
    assert (tmp_path / "made" / "triton" / "_C" / "libtriton" / "ir.py").exists()
    assert f"Version: {version}" in (tmp_path / "made" / f"triton-{version}.dist-info" / "METADATA").read_text()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "has no Triton; want a wheel, a checkout, or a folder with triton/__init__.py"),
        ({"triton/__init__.py": ""}, "has no Triton"),
        (whole("3.5.1"), "is Triton 3.5.1; want 3.6 to 3.9"),
        (whole("3.10.0"), "is Triton 3.10.0; want 3.6 to 3.9"),
        (whole("4.0.0"), "is Triton 4.0.0; want 3.6 to 3.9"),
        (whole("new"), "is Triton new; want 3.6 to 3.9"),
        (whole("3.9.0") | {"triton/__init__.py": ""}, "does not say which version of Triton it is"),
        ({n: t for n, t in whole("3.9.0").items() if "semantic" not in n}, "is not whole: it has no triton/language/semantic.py"),
        (
            {n: t for n, t in whole("3.9.0", "python/triton/").items() if "cuda" not in n},
            "it has no python/triton/language/extra/cuda/libdevice.py (or third_party/nvidia/language/cuda/libdevice.py)",
        ),
    ],
)  # fmt: skip
def test_sources_that_are_refused(files: dict[str, str], why: str, tmp_path: pathlib.Path):
    source = tree(tmp_path / "source", files | {"README": ""})
    with pytest.raises(ValueError) as refused:
        frontend.write(source, tmp_path / "made")
    assert why in str(refused.value)
    assert not (tmp_path / "made" / "triton").exists()


def test_a_checkout_and_a_wheel(tmp_path: pathlib.Path):
    files = {n: t for n, t in whole("3.7.0", "python/triton/").items() if "cuda" not in n}
    files |= {
        "third_party/nvidia/language/cuda/libdevice.py": "here = 1",
        "python/triton/_C/libtriton.cc": "",
        "LICENSE": "MIT",
    }
    source = tree(tmp_path / "source", files)
    assert frontend.write(source, tmp_path / "made") == "3.7.0"
    assert (tmp_path / "made/triton/language/extra/cuda/libdevice.py").read_text() == "here = 1"
    assert (tmp_path / "made/triton-3.7.0.dist-info/LICENSE").read_text() == "MIT"
    wheel = tmp_path / "triton-3.8.0-cp311-cp311-anything.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (
            whole("3.8.0") | {"triton/backends/nvidia/driver.py": "", "triton/_C/libtriton.so": "ELF"}
        ).items():
            archive.writestr(name, text)
    assert frontend.write(wheel, tmp_path / "made") == "3.8.0"  # what was written before is replaced
    assert not (tmp_path / "made/triton-3.7.0.dist-info").exists()
    assert not (tmp_path / "made/triton/backends/nvidia").exists()
    assert (tmp_path / "made/triton/_C/libtriton.so").read_text() != "ELF"


def test_another_triton_is_not_replaced(tmp_path: pathlib.Path):
    source, other = tree(tmp_path / "source", whole("3.9.0")), tree(tmp_path / "other", whole("3.9.0"))
    with pytest.raises(ValueError, match="exists, and is not written by paddle-mps; want another folder"):
        frontend.write(source, other)
    assert not (other / "triton/_C").exists()


def test_the_command(tmp_path: pathlib.Path):
    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "paddle_mps._commands._triton_tool", "frontend", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    source = tree(tmp_path / "source", whole("3.9.0"))
    status, told = run(str(source), str(tmp_path / "made"))
    assert status == 0 and f"Triton 3.9.0; put {tmp_path / 'made'} on PYTHONPATH" in told
    status, told = run(str(tmp_path / "nothing"), str(tmp_path / "made"))
    assert status == 1 and "nothing does not exist; want a wheel" in told
    (tmp_path / "text.whl").write_text("text")
    status, told = run(str(tmp_path / "text.whl"), str(tmp_path / "made"))
    assert status == 1 and "text.whl is neither a folder nor a wheel" in told
    assert run()[0] == 2 and run(str(source))[0] == 2


def test_nothing_compiled_is_loaded(folder: pathlib.Path):
    program = (
        "import triton, triton.backends, sys; from triton._C import libtriton\n"
        "print(triton.__file__, libtriton.__file__, list(triton.backends.backends), 'libtriton' in open('/proc/self/maps').read(),"
        " 'numpy' in sys.modules, triton.runtime.driver.MPSDriver.__name__)"
    )
    done = python(folder, "-c", program)
    assert done.stdout.split() == [
        f"{folder}/triton/__init__.py", f"{folder}/triton/_C/libtriton/__init__.py", "['mps']", "False", "False", "MPSDriver"
    ], done.stderr  # fmt: skip


SPECIALIZED = """
import json, sys, collections
import triton, triton.language as tl
from triton._C.libtriton import native_specialize_impl as specialize
from triton.tools.tensor_descriptor import TensorDescriptor

class Backend:
    supports_native_tensor_specialization = NATIVE
    @staticmethod
    def get_int_specialization(arg, **kwargs): return "D" if arg % 16 == 0 and kwargs.get("align") else ""
    @staticmethod
    def get_tensor_specialization(arg, **kwargs): return "D" if arg.data_ptr() % 16 == 0 and kwargs.get("align") else ""

class Tensor:
    def __init__(self, dtype, address=32): self.dtype, self.address = dtype, address
    def data_ptr(self): return self.address

class Index(int): pass
Pair = collections.namedtuple("Pair", "a b")
names = ["float32", "paddle.float16", "torch.bfloat16", "bool", "uint8", "int64", "fp8e5", "float8_e4m3fn", "i1", "u32", "fp64"]
values = [0, 1, 2, 16, -16, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**63 - 1, 2**63, 2**64 - 16, -2**63, True, False, None, 1.0, 0.5,
          float("nan"), (1, 2, 3.0), (), ((16, None), True), Pair(1, 32), Index(1), Index(48), tl.constexpr(3), tl.float32,
          *[Tensor(n) for n in names], *[Tensor(getattr(tl, n)) for n in ("int1", "float16", "int8", "uint64", "float8e5")],
          Tensor("float32", 4), (Tensor("float32"), 16)]
told = []
for value in values:
    for const in (False, True):
        for special in (False, True):
            for align in (False, True):
                try:
                    kind, key = specialize(Backend, value, const, special, align)
                    told.append([repr(kind), type(kind).__name__, repr(key)])
                except Exception as error:
                    told.append(type(error).__name__)
for wrong in ("text", [1], object(), 1j):
    try:
        specialize(Backend, wrong, False, True, True)
        told.append("accepted")
    except TypeError as error:
        told.append(str(error).split("\\n")[0].split("'")[0].strip().rstrip(":").split(":")[0])
print(json.dumps(told))
"""


@pytest.mark.parametrize("native", [True, False])
def test_arguments_are_specialized_as_by_the_wheel(native: bool, folder: pathlib.Path):
    program = SPECIALIZED.replace("NATIVE", str(native))
    ours, theirs = python(folder, "-c", program), python(installed(), "-c", program)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    told = json.loads(theirs.stdout)
    assert len(told) > 300
    for mine, wheel in zip(json.loads(ours.stdout), told):
        assert mine == wheel


CAPTURED = f"""
import sys; sys.path[:0] = [{str(HERE)!r}]
import capture, corpus, pathlib
for name, case in corpus.load().items():
    pathlib.Path(sys.argv[1], name).write_text(capture.capture(case.run()))
"""
PARSED = """
import sys, pathlib
from triton._C.libtriton import ir
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    path.write_text(path.read_text().replace(' attributes {paddle_mps.raw = "3.9.0"}', "", 1))
    context = ir.context()
    ir.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    print(path.name, bool(module.verify()))
"""


def test_the_wheel_reads_what_is_built(folder: pathlib.Path, tmp_path: pathlib.Path):
    """Triton's own parser and verifier take the IR of all kernels but those whose operations are written otherwise."""
    import triton

    if not triton.__version__.startswith("3.9"):
        pytest.skip("the text is that of 3.9")
    done = python(folder, "-c", CAPTURED, str(tmp_path))
    assert done.returncode == 0, done.stderr
    for path in tmp_path.iterdir():
        if any(word in path.read_text() for word in ("tt.make_tensor_descriptor", "tt.dot_scaled")):
            path.unlink()
    count = len(list(tmp_path.iterdir()))
    assert count > 200
    done = python(installed(), "-c", PARSED, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("True") == count


def test_ahead_of_time(folder: pathlib.Path, tmp_path: pathlib.Path):
    (tmp_path / "k.py").write_text(KERNELS)
    command = [
        "-m",
        "paddle_mps._commands._triton_tool",
        "compile",
        str(tmp_path / "k.py"),
        "-n",
        "add",
        "-s",
        SIGNATURE,
    ]
    ours, theirs = python(folder, *command), python(installed(), *command)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout.splitlines()[0] == theirs.stdout.splitlines()[0]  # how it is launched
    assert "float4" in ours.stdout
    command = [
        "-m",
        "paddle_mps._commands._triton_tool",
        "compile",
        str(tmp_path / "k.py"),
        "-n",
        "scaled",
        "-s",
        "*fp8e5, *fp32",
    ]
    done = python(folder, *command)
    assert done.returncode == 1
    assert "[triton] tt.dot_scaled at k.py:10: this operation is not supported" in done.stderr


def test_what_is_absent_says_so(folder: pathlib.Path):
    done = python(folder, "-c", "from triton._C.libtriton import ir; ir.parse_mlir_module('x.ttir', None)")
    assert "`paddle-mps triton compile x.ttir` compiles it" in done.stderr
    done = python(folder, "-c", "import triton.tools as t; t.LinearLayout()")
    assert "NotImplementedError: layouts are chosen by the library" in done.stderr


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_versions_of_python(version: str, folder: pathlib.Path, tmp_path: pathlib.Path):
    """The IR of a kernel is the same with each Python that is on this machine; NumPy and the library are not needed."""
    found = frontend_python(version)
    if found is None:
        pytest.skip(f"there is no Python {version}")
    (tmp_path / "k.py").write_text(KERNELS)
    command = ["-m", "paddle_mps_triton.ttir", str(tmp_path / "k.py"), "-n", "add", "-s", SIGNATURE]
    done = python(folder, *command, executable=found)
    assert done.returncode == 0, done.stderr
    assert done.stdout == python(folder, *command).stdout


def frontend_python(version: str) -> str | None:
    """An interpreter of a version: on PATH, or of pyenv."""
    import shutil

    others = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in [shutil.which(f"python{version}"), *map(str, others)]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None
