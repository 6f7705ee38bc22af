"""Pointers that a kernel makes out of integers: addresses of tensors, as data_ptr() gives them, kept in other tensors."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import paddle_mps as paddle
from paddle_mps import triton_aot
from paddle_mps_triton import frontend

FILE = pathlib.Path(__file__)


@triton.jit
def gather_rows(table, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(table + row).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, BLOCK)
    tl.store(out + row * BLOCK + at, tl.load(x + at, mask=at < n, other=-1.0), mask=at < BLOCK)


@triton.jit
def scatter_rows(x, table, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    to = tl.load(table + row).to(tl.pointer_type(tl.float16))
    at = tl.arange(0, BLOCK)
    tl.store(to + at, (tl.load(x + row * BLOCK + at) * 2).to(tl.float16))


@triton.jit
def one_of_each(table, number, out, BLOCK: tl.constexpr):
    """Each element from a tensor of its own; where the number is negative, the address is 0 and must not be followed."""
    at = tl.arange(0, BLOCK)
    x = tl.load(table + at).to(tl.pointer_type(tl.int32))
    i = tl.load(number + at)
    tl.store(out + at, tl.load(x + i, mask=i >= 0, other=7))


@triton.jit
def count(table, BLOCK: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.int32))
    tl.atomic_add(x + tl.arange(0, BLOCK) % 4, 1)
    tl.atomic_max(x + 4, tl.program_id(0))


@triton.jit
def products(table, sizes, BLOCK: tl.constexpr):
    """Product g of matrices of its own, [m, k] and [k, n], in tiles: pointers go through loops."""
    g = tl.program_id(0)
    a = tl.load(table + g * 3).to(tl.pointer_type(tl.float16))
    b = tl.load(table + g * 3 + 1).to(tl.pointer_type(tl.float16))
    c = tl.load(table + g * 3 + 2).to(tl.pointer_type(tl.float32))
    m = tl.load(sizes + g * 3)
    n = tl.load(sizes + g * 3 + 1)
    k = tl.load(sizes + g * 3 + 2)
    i = tl.arange(0, BLOCK)
    for tile in range(tl.cdiv(m, BLOCK) * tl.cdiv(n, BLOCK)):
        rows = tile // tl.cdiv(n, BLOCK) * BLOCK + i
        columns = tile % tl.cdiv(n, BLOCK) * BLOCK + i
        left = a + rows[:, None] * k + i[None, :]
        right = b + i[:, None] * n + columns[None, :]
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for at in range(0, k, BLOCK):
            tl.multiple_of(left, [16, 16])
            x = tl.load(left, mask=(rows[:, None] < m) & (at + i[None, :] < k), other=0.0)
            y = tl.load(right, mask=(at + i[:, None] < k) & (columns[None, :] < n), other=0.0)
            total += tl.dot(x, y)
            left += BLOCK
            right += BLOCK * n
        tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def follow_list(first, out, steps):
    """A list in memory: at each place the address of the next one."""
    at = tl.load(first)
    for _ in range(steps):
        at = tl.load(at.to(tl.pointer_type(tl.int64)))
    tl.store(out, at)


@triton.jit
def as_integer(table, out, BLOCK: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.arange(0, BLOCK), (x + tl.arange(0, BLOCK)).to(tl.int64))
    tl.store(out + BLOCK, (x + 3).to(tl.int64))


@triton.jit
def mixed(x, table, out, which):
    p = x
    if which > 0:
        p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out, tl.load(p))


@triton.jit
def of_argument(x, out):
    tl.store(out, x.to(tl.int64))


def place(text: str) -> str:
    lines = FILE.read_text().splitlines()
    return f"{FILE.name}:{next(i for i, line in enumerate(lines, 1) if text in line)}"


def on_gpu(data: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(np.asarray(data, dtype), place="mps")


def table_of(*tensors: Any) -> Any:
    return on_gpu([t if isinstance(t, int) else t.data_ptr() for t in tensors], "int64")


def test_rows_of_tensors():
    random = np.random.default_rng(0)
    data = [random.standard_normal(100 + 50 * i).astype(np.float32) for i in range(5)]
    tensors = [on_gpu(d) for d in data]
    for n in (100, 60, 0):
        out = paddle.zeros([5, 128], place="mps")
        gather_rows[(5,)](table_of(*tensors), out, n, BLOCK=128)
        want = np.full((5, 128), -1, np.float32)
        for i in range(5):
            want[i, :n] = data[i][:n]
        assert np.array_equal(out.numpy(), want)


def test_a_view_is_where_its_first_element_is():
    x = on_gpu(np.arange(1000))
    out = paddle.zeros([1, 16], place="mps")
    gather_rows[(1,)](table_of(x[300:]), out, 16, BLOCK=16)
    assert np.array_equal(out.numpy()[0], np.arange(300, 316))


def test_stores_are_seen_without_synchronize():
    """Reading a tensor waits for a kernel that has it only by its address, and operators on another stream do."""
    tensors = [paddle.zeros([256], dtype="float16", place="mps") for _ in range(4)]
    x = on_gpu(np.arange(1024) % 100)
    stream = paddle.mps.Stream()
    for _ in range(10):
        scatter_rows[(4,)](x, table_of(*tensors), BLOCK=256)
        with paddle.mps.stream(stream):
            double = tensors[3] + tensors[3]
        want = (np.arange(1024) % 100 * 2).reshape(4, 256)
        assert all(np.array_equal(t.numpy(), w) for t, w in zip(tensors, want))
        assert np.array_equal(double.numpy(), want[3] * 2)
        for t in tensors:
            t.zero_()


def test_each_element_has_an_address():
    random = np.random.default_rng(1)
    data = [random.integers(-99, 99, 10 + i).astype(np.int32) for i in range(64)]
    tensors: list[Any] = [on_gpu(d, "int32") for d in data]
    number = random.integers(0, 10, 64).astype(np.int32)
    want = np.array([d[i] for d, i in zip(data, number)], np.int32)
    for i in (3, 17, 63):
        number[i], want[i], tensors[i] = -1, 7, 0
    out = paddle.zeros([64], dtype="int32", place="mps")
    one_of_each[(1,)](table_of(*tensors), on_gpu(number, "int32"), out, BLOCK=64)
    paddle.mps.synchronize()
    assert np.array_equal(out.numpy(), want)


def test_atomics():
    x = paddle.zeros([8], dtype="int32", place="mps")
    count[(6,)](table_of(x), BLOCK=128)
    assert x.tolist() == [192] * 4 + [5, 0, 0, 0]


@pytest.mark.parametrize("warps", [1, 4])
def test_grouped_products(warps: int):
    random = np.random.default_rng(2)
    sizes = [(64, 32, 48), (16, 80, 16), (33, 17, 32)]
    arrays, tensors = [], []
    for m, n, k in sizes:
        a, b = (random.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        arrays.append((a, b))
        tensors += [on_gpu(a, "float16"), on_gpu(b, "float16"), paddle.zeros([m, n], place="mps")]
    products[(3,)](table_of(*tensors), on_gpu(sizes, "int32"), BLOCK=16, num_warps=warps)
    for (a, b), c, (_, _, k) in zip(arrays, tensors[2::3], sizes):
        want = a.astype(np.float64) @ b.astype(np.float64)
        bound = k * 2.0**-24 * (abs(a).astype(np.float64) @ abs(b).astype(np.float64))  # each sum rounds once
        assert (abs(c.numpy() - want) <= bound).all()


def test_a_list_in_memory():
    places = paddle.zeros([8], dtype="int64", place="mps")
    base = places.data_ptr()
    order = [5, 2, 7, 1, 3]
    links = np.zeros(8, np.int64)
    for here, there in zip(order, order[1:]):
        links[here] = base + 8 * there
    links[3] = 1234
    places.copy_(on_gpu(links, "int64"))
    out = paddle.zeros([1], dtype="int64", place="mps")
    follow_list[(1,)](on_gpu([base + 8 * 5], "int64"), out, 5)
    assert out.item() == 1234


def test_memory_of_numpy():
    """Memory that is shared without a copy is found by its own address."""
    array = paddle.mps.page_aligned_empty([64], dtype="float32")
    array[:] = np.arange(64)
    shared = paddle.to_tensor(array, place="mps", zero_copy=True)
    out = paddle.zeros([1, 64], place="mps")
    gather_rows[(1,)](table_of(array.ctypes.data), out, 64, BLOCK=64)
    assert np.array_equal(out.numpy()[0], array)
    del shared


WRONG = {
    "beyond the end": lambda x: x.data_ptr() + 4 * 97,
    "null": lambda x: 0,
    "negative": lambda x: -8,
    "far away": lambda x: 1 << 52,
}


@pytest.mark.parametrize("what", WRONG)
def test_an_address_of_no_tensor(what: str):
    x, out = on_gpu(np.ones(100)), paddle.zeros([1, 4], place="mps")
    paddle.mps.synchronize()
    gather_rows[(1,)](table_of(WRONG[what](x)), out, 4, BLOCK=4)
    where = place("tl.load(x + at, mask=at < n, other=-1.0)")
    said = rf"\[gather_rows\] address 0x[0-9a-f]+ is in no tensor of this device at {where}, program \(0, 0, 0\)"
    with pytest.raises(RuntimeError, match=said):
        paddle.mps.synchronize()
    paddle.mps.synchronize()  # it is said once
    assert (x.numpy() == 1).all()
    gather_rows[(1,)](table_of(x), out, 4, BLOCK=4)
    assert (out.numpy() == 1).all()


def test_a_store_to_no_tensor():
    x = paddle.zeros([1024], dtype="float16", place="mps")
    gone = paddle.zeros([1024], dtype="float16", place="mps")
    table = table_of(x, gone, x)
    del gone
    paddle.mps.memory_allocated()  # frees are collected until a call needs them done
    scatter_rows[(3,)](on_gpu(np.ones(300)), table, BLOCK=64)
    with pytest.raises(RuntimeError, match=r"address 0x[0-9a-f]+ is in no tensor .*, program \(1, 0, 0\)"):
        paddle.mps.synchronize()
    assert (x.numpy() == np.repeat([2, 0], [64, 960])).all()


def test_addresses_as_integers():
    x, out = on_gpu(np.ones(64)), paddle.zeros([33], dtype="int64", place="mps")
    as_integer[(1,)](table_of(x), out, BLOCK=32)
    assert out.tolist() == [x.data_ptr() + 4 * i for i in [*range(32), 3]]


def test_what_is_refused():
    x, out = on_gpu([1]), paddle.zeros([1], place="mps")
    with pytest.raises(
        paddle.UnsupportedError,
        match=r"argument [px] .*test_addresses.py:\d+: a pointer of the kernel may be this argument or",
    ):
        mixed[(1,)](x, table_of(x), out, 2)
    with pytest.raises(paddle.UnsupportedError, match=r"tt.ptr_to_int of i64 .*: the address of an argument"):
        of_argument[(1,)](x, paddle.zeros([1], dtype="int64", place="mps"))


def test_ahead_of_time(tmp_path: pathlib.Path):
    x, out = on_gpu(np.arange(8)), paddle.zeros([1, 8], place="mps")
    kernel = gather_rows.warmup(table_of(x), out, 8, BLOCK=8, grid=(1,))
    (tmp_path / "rows.metal").write_text(kernel.asm["msl"])
    loaded = triton_aot.load(tmp_path / "rows.metal")
    loaded[(1,)](table_of(x), out, 8)
    assert np.array_equal(out.numpy()[0], np.arange(8))


def test_without_the_compiled_module(tmp_path: pathlib.Path):
    """The same kernels through Triton's Python files alone."""
    root = pathlib.Path(triton.__file__).parents[1]
    assert frontend.main([str(root), str(tmp_path)]) == 0
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    chosen = "not compiled_module and not ahead_of_time and not no_tensor"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FILE), "-k", chosen],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and re.search(r"1\d passed", done.stdout), done.stdout[-3000:]
