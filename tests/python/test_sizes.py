"""Sizes that no tensor has: each call with one answers or refuses, at once and without the memory that it names."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import hostile_sizes
import numpy as np
import pytest

import paddle_mps as paddle

PROGRAM = pathlib.Path(hostile_sizes.__file__)
ENVIRONMENT = {
    **os.environ,
    "MPS_MAX_POOL_SIZE": str(256 << 20),
    "PADDLE_MPS_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PADDLE_MPS_DEFAULT_PLACE": "cpu",
}
SLOW = 2.0  # seconds of the processor: printed. Only what takes GUARD seconds of hostile_sizes.py ends the child and fails.
PARTS = 11  # groups of cases, of which `./build.sh test` runs one


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_size_is_answered_or_refused(part: int) -> None:
    first, total, died, slow = 0, 1, [], []
    while first < total:
        command = [sys.executable, str(PROGRAM), str(first), str(PARTS), str(part)]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
        total, *lines = map(json.loads, done.stdout.splitlines())
        begun: list[tuple[int, str]] = lines[::2]
        ended: list[tuple[float, str]] = lines[1::2]
        slow += [(seconds, source) for (seconds, _), (_, source) in zip(ended, begun) if seconds > SLOW]
        if done.returncode:
            assert len(begun) > len(ended), done.stderr[-2000:]
            died.append((done.returncode, begun[-1][1], done.stderr[:300]))
        first = begun[-1][0] + 1 if begun else total
    print(f"{total} cases; above {SLOW} s: {slow}")
    assert total > 300
    assert not died


def test_the_cases_reach_every_function() -> None:
    """What has an integer argument in some recorded expression has a case; names of functions that once ran for minutes."""
    made = hostile_sizes.cases(paddle)
    names = "vander tensor_split hsplit vsplit dsplit diff polygamma multigammaln tril_indices triu_indices combinations interpolate"
    for name in names.split():
        assert any(f"{name}(" in source and str(2**31) in source for source in made), name
    assert len(made) > 3000


REFUSED = [
    "paddle.vander(v, 10**7)",
    "paddle.tensor_split(v, 10**9)",
    "paddle.hsplit(v, 10**9)",
    "paddle.vsplit(m, 10**9)",
    "paddle.dsplit(c, 10**9)",
    "paddle.polygamma(v * 1e30, 10**30)",
    "paddle.multigammaln(v, 2**31)",
    "paddle.tril_indices(2**31, 2**31)",
    "paddle.triu_indices(2**31, 2**31)",
    "paddle.combinations(paddle.arange(30), 15)",
    "paddle.combinations(paddle.arange(10**6), 5 * 10**5)",
    "paddle.combinations(v, 2**31, True)",
    "paddle.nn.functional.interpolate(m.reshape([1, 1, 2, 3]), size=[2**31, 2**31])",
    "paddle.nn.functional.interpolate(m.reshape([1, 1, 2, 3]), size=[2**31, 2**31], mode='bicubic')",
    "paddle.linalg.svd_lowrank(m, 2, 2**62)",
    "paddle.linalg.pca_lowrank(m, 2, niter=2**62)",
]


MOST_CALLS = 5000  # of functions, Python's and C's: a refusal makes some hundreds, a loop over the size millions


@pytest.mark.parametrize("source", REFUSED)
def test_a_size_is_judged_before_work(source: str) -> None:
    """With 1 GiB or more of memory for each, they must not begin."""
    scope: dict[str, Any] = {"paddle": paddle, "v": paddle.to_tensor([1.0, 2.0, 3.0]), "m": paddle.ones([2, 3])}
    scope["c"] = paddle.ones([2, 3, 4])
    name = source.partition("(")[0].rpartition(".")[2]
    made = itertools.count(1)

    def counted(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call") and next(made) > MOST_CALLS:
            sys.setprofile(None)
            raise AssertionError(f"more than {MOST_CALLS} calls, in {frame.f_code.co_name}")

    with pytest.raises((ValueError, MemoryError, RuntimeError)) as caught:
        sys.setprofile(counted)
        try:
            eval(source, scope)
        finally:
            sys.setprofile(None)
    assert next(made) <= MOST_CALLS
    if not isinstance(caught.value, MemoryError):
        assert str(caught.value).startswith(f"[{name}] "), caught.value


def test_a_pickle_duplicates_nothing(tmp_path: pathlib.Path) -> None:
    """No writer of pickles emits DUP: ten million of them would be read for seconds, and describe one number."""
    file = tmp_path / "x.pdparams"
    file.write_bytes(b"\x80\x02K\x01" + b"2" * 10_000_000 + b".")
    with pytest.raises(ValueError, match="byte 4: got the instruction DUP"):
        paddle.load(str(file))


def test_differences_end_where_nothing_is_left() -> None:
    assert paddle.diff(paddle.arange(5), n=2**63 - 1).shape == [0]
    assert paddle.diff(paddle.ones([3, 4]), n=4, axis=0).shape == [0, 4]
    assert paddle.diff(paddle.to_tensor([True, False]), n=2**31).dtype == paddle.bool


def test_triangles_are_those_of_numpy() -> None:
    offsets = [*range(-7, 8), 2**40, -(2**40)]
    for rows, columns, offset in itertools.product(range(6), range(6), offsets):
        near = min(max(offset, -99), 99)
        for ours, theirs in ((paddle.tril_indices, np.tril_indices), (paddle.triu_indices, np.triu_indices)):
            want = np.array(theirs(rows, near, columns)).reshape(2, -1)
            assert np.array_equal(ours(rows, columns, offset).numpy(), want), (ours.__name__, rows, columns, offset)
    assert paddle.triu_indices(2**31, 1).tolist() == [[0], [0]]
    assert paddle.tril_indices(3, 2**31, -2).tolist() == [[2], [0]]


def test_combinations_are_those_of_python() -> None:
    for n, r, again in itertools.product(range(7), range(1, 8), (False, True)):
        x = np.arange(n) * 3.0
        choose = itertools.combinations_with_replacement if again else itertools.combinations
        want = np.array(list(choose(x, r))).reshape(-1, r)
        got = paddle.combinations(paddle.to_tensor(x), r, again).numpy()
        assert got.shape == want.shape and np.array_equal(got, want), (n, r, again)
