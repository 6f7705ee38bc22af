"""The command `paddle-mps` that pip installs: its command line, and the writer of the page of memory-viz.

tests/browser opens the page; tests/package runs the command as it is installed.
"""

from __future__ import annotations

import io
import json
import pathlib
import re
from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps
from paddle_mps import _tool, memory_viz
from paddle_mps._commands import _bench
from paddle_mps._models import _progress

SMALL: dict[str, Any] = {
    "version": 1,
    "device": "test </script> & <b>",
    "place": "mps:0",
    "segments": [{"id": 1, "total_size": 8, "blocks": [
        {"size": 5, "state": "inactive"}, {"size": 3, "state": "active_allocated", "stack": 1}]}],
    "trace": [{"action": "alloc", "size": 3, "stack": 1}],
    "stacks": [[{"filename": "a.py", "line": 1, "name": "</script><script>alert(1)</script>{{data}}"}]],
}  # fmt: skip


def command(*arguments: str) -> int:
    """The exit status; argparse ends a wrong command line by itself."""
    try:
        return _tool.run(arguments)
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--help", "memory-viz SNAPSHOT.json"),
        ("-h", "collect-env"),
        ("help", "selftest [--quick]"),
        ("--version", f"paddle-mps {paddle_mps.__version__}"),
        ("memory-viz --help", "usage: paddle-mps memory-viz"),
        ("help explain", "usage: paddle-mps explain"),
        ("bench --help", "--compare {onnxruntime}"),
        ("help memory-viz", "the page to write"),
        ("selftest --help", "usage: paddle-mps selftest"),
        ("collect-env --help", "usage: paddle-mps collect-env"),
        ("--help", "python -m paddle_mps script.py runs a program"),
        ("collect-env", f"paddle_mps: {paddle_mps.__version__}"),
        *[(f"{name} --version", f"paddle-mps {paddle_mps.__version__}") for name in _tool.COMMANDS],
    ],
)
def test_help_and_version(capsys: pytest.CaptureFixture[str], line: str, says: str) -> None:
    assert command(*line.split()) == 0
    said = capsys.readouterr()
    assert says in said.out and said.err == ""


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("", 2, "usage:"),
        ("sing", 2, "got command 'sing'; want one of those above"),
        ("memory-viz", 2, "required: SNAPSHOT.json"),
        ("explain", 2, "required: model"),
        ("bench nowhere.onnx", 1, "nowhere.onnx"),
        ("explain nowhere.onnx", 1, "nowhere.onnx"),
        ("memory-viz a b", 2, "unrecognized arguments: b"),
        ("memory-viz nowhere.json", 1, "nowhere.json"),
        ("collect-env --loud", 2, "unrecognized arguments: --loud"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], line: str, status: int, says: str) -> None:
    assert command(*line.split()) == status
    said = capsys.readouterr()
    assert says in said.err and said.out == ""


def test_page(tmp_path: pathlib.Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    name = tmp_path / "s.json"
    name.write_text(json.dumps(SMALL))
    assert command("memory-viz", str(name)) == 0
    assert capsysbinary.readouterr().out == f"{tmp_path / 's.html'}\n".encode()
    assert command("memory-viz", str(name), "-o", "-") == 0
    page = capsysbinary.readouterr().out
    assert page == (tmp_path / "s.html").read_bytes()
    assert page.count(b"</script>") == 2, "nothing in the data ends a script"
    assert b"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)" in page
    assert b"<title>Memory of mps:0 (test &lt;/script&gt; &amp; &lt;b&gt;)</title>" in page
    assert page.count(b"{{") == 1, "what is in the data is no place for another part"


def test_the_snapshot_is_not_overwritten(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, link = tmp_path / "x.html", tmp_path / "link"
    name.write_text(json.dumps(SMALL))
    link.symlink_to(name)
    for arguments in ([str(name)], [str(name), "-o", str(name)], [str(name), "-o", str(link)]):
        assert command("memory-viz", *arguments) == 1
        assert "is the snapshot itself" in capsys.readouterr().err
        assert json.loads(name.read_text()) == SMALL


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (json.dumps(SMALL), "", "not a snapshot"),
        (json.dumps(SMALL), "[1, 2]", "not a snapshot"),
        ('"version": 1', '"version": 2', "version 2; want 1"),
        ('"size": 5', '"size": 6', "8 bytes and its blocks have 9"),
        ('"size": 5', '"size": 0', "block of 0 bytes"),
        ('"size": 5', '"size": NaN', "not a snapshot"),
        ('"total_size": 8', '"total_size": "8"', "8 bytes and its blocks have 8"),
        ('"stack": 1}]}]', '"stack": 2}]}]', "stack 2; want"),
        ('"size": 3, "stack": 1}],', '"size": -3, "stack": 1}],', "event 0 has -3 bytes"),
        ('"segments": [{', '"segments": [3, {', "not a snapshot"),
        ("a.py", "\udcff", "is not UTF-8; want a file of paddle.mps.dump_snapshot"),
    ],
)
def test_what_is_no_snapshot(old: str, new: str, says: str) -> None:
    text = json.dumps(SMALL)
    assert old in text
    with pytest.raises(ValueError, match=says):
        memory_viz.render(text.replace(old, new).encode(errors="surrogateescape"))


def test_stacks_of_a_program_in_c() -> None:
    """They are numbers, and there is no list."""
    found = {k: v for k, v in SMALL.items() if k != "stacks"}
    found["trace"] = [{"action": "alloc", "size": 3, "stack": 2**64 - 1}]
    memory_viz.render(json.dumps(found).encode())


@pytest.fixture
def product(tmp_path: pathlib.Path) -> str:
    """A model: z = (x @ w) + b, with x of [n, 3]; the file does not say the shape of b."""
    path = tmp_path / "product.onnx"
    path.write_bytes(
        files.model(
            [files.node("MatMul", ["x", "w"], ["y"]), files.node("Add", ["y", "b"], ["z"])],
            [files.port("x", "float", ["n", 3]), files.port("b", "float", None)],
            [files.port("z", "float", ["n", 4])],
            [files.weight("w", np.ones((3, 4), np.float32))],
        )
    )
    return str(path)


def test_explain_has_examples_of_elements_that_tensors_lack(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pair.onnx"
    ports = [files.port(name, elem, [2]) for name, elem in (("a", "uint16"), ("b", "float8e5m2"))]
    nodes = [files.node("Cast", ["a"], ["x"], to=1), files.node("Cast", ["b"], ["y"], to=1)]
    path.write_bytes(
        files.model(nodes, ports, [files.port("x", "float", [2]), files.port("y", "float", [2])], opset=21)
    )
    assert command("explain", str(path), "--place", "cpu") == 0
    assert "a uint16[2], b uint8[2]" in capsys.readouterr().out


def test_explain(product: str, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "b.npy", np.ones(4, np.float32))
    shapes = ["--size", "n=5", "--input", f"b={tmp_path / 'b.npy'}", "--place", "cpu"]
    assert command("explain", product, *shapes) == 0
    said = capsys.readouterr().out
    assert "x float32[5, 3], b float32[4]" in said and "48 bytes of constants" in said
    assert re.search(r"matmul\(.*\) +float32\[5, 4\]", said) and re.search(r"add\(.*\) +float32\[5, 4\]", said)
    assert command("explain", product, "--summary", "--shape", "x=2,3", "--shape", "b=4") == 0
    assert re.search(r"^ +1  matmul\n +1  add$", capsys.readouterr().out, re.MULTILINE)
    picture = tmp_path / "product.svg"
    assert command("explain", product, "--svg", str(picture)) == 0
    assert capsys.readouterr().out == f"wrote {picture}\n"
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.startswith("<svg ") and all(f">{name}</text>" in drawn for name in ("x", "MatMul", "output z"))
    assert command("explain", product, "--svg", str(tmp_path / "no" / "x.svg")) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "'b' is float; want its shape"),
        ("--shape b", "got 'b'; want NAME=VALUE"),
        ("--shape b=4 --size m=3", "got ['m']; want some of ['n']"),
        ("--shape b=4 --shape q=3", "got ['q']; want some of ['b', 'x']"),
        ("--shape b=x", "got 'x'; want sizes"),
        ("--shape b=5", "do not broadcast"),
        ("--shape b=4 --threads 0", "threads is 0; want 1 or more"),
        ("--shape b=4 --seconds -1", "seconds is -1.0; want 0 or more"),
        ("--input b=no.npy", "No such file"),
    ],
)
def test_mistakes_about_models(product: str, capfd: pytest.CaptureFixture[str], options: str, says: str) -> None:
    assert command("bench", product, *options.split()) == 1
    assert says in capfd.readouterr().err


def test_bench_without_onnxruntime(
    product: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert command("bench", product, "--shape", "b=4", "--compare", "onnxruntime") == 1
    assert "onnxruntime is not installed" in capfd.readouterr().err


def test_the_report_is_writable_before_the_checks(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "no" / "report.md"):
        assert command("selftest", "--output", str(path)) == 2
        assert "the report cannot be written" in capsys.readouterr().err


def test_convert(product: str, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """The program computes what the model computes, for the sizes for which it was written, and the commands take it too."""
    path = str(tmp_path / "p.pmps")
    assert command("convert", product, "--shape", "b=4", "--size", "n=2", "--output", path) == 0
    assert f"wrote {path}" in capsys.readouterr().out
    model, made = (paddle_mps.onnx.load(p, paddle_mps.CPUPlace()) for p in (product, path))
    shapes = [[n or 0 for n in p.shape or ()] for p in made.inputs]
    arrays = [np.random.default_rng(1).standard_normal(shape).astype("float32") for shape in shapes]
    assert [p.name for p in made.inputs] == ["input0", "input1"][: len(arrays)] and made.outputs[0].name == "output0"
    assert made(*arrays).tolist() == model(*arrays).tolist()
    with pytest.raises(ValueError, match="want float32 of shape"):
        made(*(np.concatenate([x, x]) for x in arrays))
    assert command("explain", path) == 0 and "matmul" in capsys.readouterr().out
    assert command("bench", path, "--seconds", "0") == 0
    assert command("convert", path, "--output", path) == 1
    assert "is the model itself" in capsys.readouterr().err
    assert command("convert", product, "--shape", "b=4", "--output", str(tmp_path)) == 1


def test_convert_refuses_what_no_program_holds(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = files.model(
        [files.node("NonZero", ["x"], ["y"])], [files.port("x", "float", [3])], [files.port("y", "int64", None)]
    )
    listed = files.model(
        [files.node("Identity", ["x"], ["y"])],
        [files.port("x", "float", [3], sequence=True)],
        [files.port("y", "float", None, sequence=True)],
    )
    for model, says in ((counted, "depends on the elements"), (listed, "sequences or optionals")):
        path = tmp_path / "m.onnx"
        path.write_bytes(model)
        assert command("convert", str(path)) == 1 and says in capsys.readouterr().err
        assert not (tmp_path / "m.pmps").exists()


def test_progress() -> None:
    """It prints nothing in the first second nor where the output is no terminal, and leaves nothing behind."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, file = Terminal(), io.StringIO()
    with _progress.Progress("working", file) as bar:
        bar.done(0.5)
        assert bar._thread.ident is None
    assert file.getvalue() == ""
    with _progress.Progress("working", terminal):
        pass
    assert terminal.getvalue() == ""
    with pytest.raises(ZeroDivisionError), _progress.Progress("working", terminal) as bar:
        bar._ended.wait(1.5)
        bar.done(2)
        bar._ended.wait(0.5)
        raise ZeroDivisionError
    lines = terminal.getvalue().split("\r")
    assert lines[1].startswith("working [") and any("100%" in line for line in lines) and lines[-1] == "\x1b[K"
    assert _progress.Progress("x")._line(0.0).startswith("x [#")


def test_what_nodes_ask_of_the_machine() -> None:
    plan = """group of steps 0 to 1: 16 elements, 1 locals
   0  local0 = exp(in0)  float32[4, 4]  64 bytes, 16 flop
   1  out0 = multiply(local0, number)  float32[4, 4]  64 bytes, 16 flop
   2  out1 = conv(in0, in1)  float32[4, 4]  100 bytes, 4000 flop  on the CPU, because Metal has no kernel
arena of 0 bytes
"""
    assert _bench._units(plan) == [(128, 32), (100, 4000)]
    conv = {
        "op_name": "Conv",
        "input_type_shape": [{"float": [1, 2, 4, 4]}, {"float": [3, 2, 3, 3]}],
        "output_type_shape": [{"float": [1, 3, 2, 2]}],
    }
    assert _bench._their_work(conv) == (392, 432)
    product = {
        "op_name": "MatMul",
        "input_type_shape": [{"float": [2, 3]}, {"float": [3, 5]}],
        "output_type_shape": [{"float": [2, 5]}],
    }
    assert _bench._their_work(product) == (124, 60)
    assert _bench._their_work({"op_name": "Constant"}) is None
    assert _bench._share(2.0, [(10, 1000), (10, 0)], (1e6, 1e4)) == "100%"
    assert _bench._share(2.0, [None], (1e6, 1e4)) == ""


def test_bench(product: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its figures: a run takes less time than the first, which compiles, and a process with Python some memory."""
    assert command("bench", product, "--shape", "b=4", "--size", "n=2", "--seconds", "0.3", "--threads", "1") == 0
    said = capsys.readouterr().out
    figures = {
        m[1].strip(): float(m[2].replace(",", "")) for m in re.finditer(r"^(.+?) {2,}([\d.,]+) ", said, re.MULTILINE)
    }
    within = [figures[f"{percent} % of runs within"] for percent in (50, 90, 99)]
    assert within == sorted(within) and within[0] <= figures["first run"]
    assert 5 < figures["peak memory"] < 2000 and figures["runs"] > 1 and figures["load"] > 0
    assert int(re.findall(r"(\d+) runs$", said)[0]) >= 3
    nodes = re.findall(r" ms +([\d.]+)% +(\d*) +(?:\d+%)?  (\w+)$", said, re.MULTILINE)
    assert sum(int(count or 0) for _, count, _ in nodes) == figures["nodes in a run"] and "matmul" in {
        n[2] for n in nodes
    }
    assert (
        sum(float(share) for share, _, _ in nodes) <= 100.2
    )  # with the roundings; what is between nodes has no one word
