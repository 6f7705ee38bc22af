"""Graphs of MPSGraph that are stored for later processes, over the mock of Apple's libraries."""

from __future__ import annotations

import pathlib
import sys

import pytest
from test_metal import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")

PROGRAM = """
import ctypes, os
fake = ctypes.CDLL(os.environ["PADDLE_MPS_METAL_LIBRARY"])
fake.fakemetal_count.restype = ctypes.c_int64
x = (paddle.arange(2 * 3 * 8 * 8, dtype="float32") / 100).reshape([2, 3, 8, 8]).to("mps")
weight = (paddle.arange(4 * 3 * 3 * 3, dtype="float32") / 50 - 1).reshape([4, 3, 3, 3]).to("mps")
y = paddle.nn.functional.conv2d(x, weight, padding=1).reshape([2, -1])
y = paddle.matmul(y, y, transpose_y=True)
print([round(v, 2) for v in y.numpy().reshape(-1).tolist()])
found = paddle.mps.memory_stats()
print(*(found[f"stored_graphs.{name}"] for name in ("hits", "misses", "writes", "dropped")), found["stored_graphs.bytes"] > 0)
print(*(fake.fakemetal_count(name) for name in (b"executables", b"packages_written", b"packages_read")))
"""


def results(**env: str) -> tuple[str, list[list[int]], str]:
    out, errors = run(PROGRAM, PADDLE_MPS_PREFER="mpsgraph", **env)
    values, *lines = out.splitlines()
    return (
        values,
        [[int(word == "True") if word in {"True", "False"} else int(word) for word in line.split()] for line in lines],
        errors,
    )


def test_a_second_process_compiles_no_stored_graph(tmp_path: pathlib.Path) -> None:
    plain, figures, errors = results()
    assert figures[0] == [0, 0, 0, 0, 0] and figures[1][1:] == [0, 0] and errors == ""
    small = figures[1][0] - 2  # graphs of one operator and one input, which are not stored
    first, cold, errors = results(PADDLE_MPS_CACHE_DIR=str(tmp_path))
    assert cold[0] == [0, 2, 2, 0, 1] and cold[1] == [small + 2, 2, 0] and errors == ""
    second, warm, errors = results(PADDLE_MPS_CACHE_DIR=str(tmp_path))
    assert warm[0] == [2, 0, 0, 0, 1] and warm[1] == [small, 0, 2] and errors == ""
    assert plain == first == second


def test_damage_costs_a_line(tmp_path: pathlib.Path) -> None:
    plain, _, _ = results(PADDLE_MPS_CACHE_DIR=str(tmp_path))
    for model in tmp_path.glob("executables/*/graph.mpsgraphpackage/model.bin"):
        model.write_bytes(model.read_bytes()[:-1])
    values, figures, errors = results(PADDLE_MPS_CACHE_DIR=str(tmp_path))
    assert values == plain and figures[0] == [0, 0, 2, 2, 1]
    assert errors.count("is damaged") == errors.count("\n") == 2, errors
    assert results(PADDLE_MPS_CACHE_DIR=str(tmp_path))[1][0] == [2, 0, 0, 0, 1]


def test_a_folder_that_cannot_be_used_costs_a_line(tmp_path: pathlib.Path) -> None:
    plain, _, _ = results()
    file = tmp_path / "file"
    file.touch()
    values, figures, errors = results(PADDLE_MPS_CACHE_DIR=str(file))
    assert values == plain and figures[0] == [0, 0, 0, 0, 0]
    assert errors.count("no compiled graphs are stored") == errors.count("\n") == 1, errors


def test_a_forked_child_does_not_keep_the_folder(tmp_path: pathlib.Path) -> None:
    """The child of a fork cannot use the library; the parent goes on, and later processes find what it stored."""
    fork = """
import sys
child = os.fork()
if child == 0: os._exit(0)
os.waitpid(child, 0)
print(paddle.matmul(x[0, 0], x[0, 0]).numpy().shape, file=sys.stderr)
"""
    _, errors = run(PROGRAM + fork, PADDLE_MPS_PREFER="mpsgraph", PADDLE_MPS_CACHE_DIR=str(tmp_path))
    assert errors == "(8, 8)\n"
    assert results(PADDLE_MPS_CACHE_DIR=str(tmp_path))[1][0][:1] == [2]


def test_the_path_is_absolute() -> None:
    out, _ = run(
        """
try:
    paddle.mps.get_device_properties()
except ValueError as error:
    print(error)
""",
        PADDLE_MPS_CACHE_DIR="cache",
    )
    assert out == '[start] PADDLE_MPS_CACHE_DIR is "cache"; want an absolute path\n'
