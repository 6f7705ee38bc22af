"""Loads damaged and hostile files under a limit of memory; started by test_save.py.

    hostile_files.py FOLDER     FOLDER has files that PaddlePaddle wrote

Prints a line for everything that is wrong and exits with 1, or prints how many files were tried. Nothing that is
read may be run, end the process, or take more memory than the limit: a file gives an error that names a byte, or a value
that is built of arrays, numbers, their dtypes, strings and containers alone.
"""

from __future__ import annotations

import io
import pathlib
import pickle
import pickletools
import random
import resource
import struct
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

import paddle_mps as paddle

LIMIT = 256 << 20  # bytes beyond what the process has when it begins to load
# Addresses beyond those, so that a file which asks for much fails. The library reserves some that it does not use.
ROOM = 1 << 30
RAN = "a file was run"
INSTRUCTIONS = [ord(code) for code in pickletools.code2op]  # type: ignore[attr-defined]


class Reduced:
    """An object whose pickle calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.made = function, arguments

    def __reduce__(self) -> Any:
        return self.made


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def array(shape: bytes, data: bytes, kind: str = "f4") -> bytes:
    """The instructions for an array; shape and data are instructions too."""
    dtype = (
        b"cnumpy\ndtype\n"
        + text(kind)
        + b"\x89\x88\x87R(K\x03"
        + text("<")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01"
        + shape
        + dtype
        + b"\x89"
        + data
        + b"tb"
    )


def calls() -> Iterator[tuple[str, bytes]]:
    """Pickles that call what is no data."""
    import builtins
    import os
    import subprocess

    functions = [
        Reduced(print, RAN), Reduced(os.system, f"echo {RAN}"), Reduced(subprocess.check_call, ["echo", RAN]),
        Reduced(builtins.eval, f"print({RAN!r})"), Reduced(builtins.exec, f"print({RAN!r})"), Reduced(getattr, "a", "upper"),
        Reduced(builtins.eval, "data", {"data": 1}), Reduced(builtins.__import__, "os"), Reduced(open, "/etc/passwd"),
        Reduced(bytearray, 1 << 40), Reduced(np.zeros, 1 << 40), Reduced(np.load, "x"), Reduced(range, 9), np.array([None]),
        Reduced(tuple, [1]), Reduced(complex, "1"), Reduced(np.dtype, "O"), Reduced(np.dtype, "V99999999999"),
        print, pathlib.Path("x"), slice(3), np.matrix([1]), np.ma.array([1]), np.dtype([("a", "f4")]),
    ]  # fmt: skip
    for function in functions:
        for protocol in (0, 1, 2, 3, 4, 5):
            yield f"{function} in protocol {protocol}", pickle.dumps([function], protocol)
    for module in (
        "os\nsystem",
        "builtins\nprint",
        "numpy.core.multiarray\n_reconstruct.__globals__",
        "numpy\nload",
        "\n",
        "numpy\n",
    ):
        yield module, b"\x80\x02c" + module.encode() + b"\n" + text("x") + b"\x85R."
    yield "a module of many bytes", b"\x80\x02c" + b"a" * 100000 + b"\nb\n."
    yield "a function as data", b"\x80\x02cbuiltins\nset\n."
    yield "a state of a dict", b"\x80\x02}}b."
    for code in b"PQ\x82\x83\x84io\x81\x92\x97\x98SVILFgpd\xff\x00":
        yield f"the instruction {code:#x}", b"\x80\x02(]" + bytes([code]) + b"os\nsystem\n(R."


def sizes() -> Iterator[tuple[str, bytes]]:
    """Lengths that the file does not have."""
    for code, width in (
        (b"\x8d", 8),
        (b"\x8e", 8),
        (b"\x96", 8),
        (b"\x95", 8),
        (b"X", 4),
        (b"B", 4),
        (b"T", 4),
        (b"\x8b", 4),
    ):
        for count in (1, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**33, 2**62, 2**63 - 1, 2**63, 2**64 - 1):
            if count < 1 << 8 * width:
                yield f"{count} bytes of {code!r}", b"\x80\x04" + code + count.to_bytes(width, "little") + b"."
    for index in (1, 2**31, 2**32 - 1):
        yield f"memo {index}", b"\x80\x02Nr" + struct.pack("<I", index) + b"j" + struct.pack("<I", index - 1) + b"."
    for shape in (
        b"K\x05\x85",
        b"J\xff\xff\xff\xff\x85",
        b"\x8a\x08" + b"\xff" * 7 + b"\x7f\x85",
        b"\x8a\x09" + b"\xff" * 8 + b"\x00\x85",
        b"N\x85",
        b"G" + bytes(8) + b"\x85",
        b"(" + b"K\x01" * 65 + b"t",
        b"\x88\x85",
        b"]",
    ):
        yield f"an array of shape {shape!r}", b"\x80\x03" + array(shape, b"C\x04abcd") + b"."
    yield (
        "a large shape without elements",
        b"\x80\x03" + array(b"K\x00" + b"\x8a\x08" + b"\xff" * 7 + b"\x3f" * 1 + b"\x86", b"C\x00") + b".",
    )
    yield (
        "an array without a state",
        b"\x80\x03cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R.",
    )
    yield "an array with two states", b"\x80\x03" + array(b"K\x01\x85", b"C\x04abcd") + b"(K\x01K\x01\x85Nt" + b"b."
    yield "characters as elements", b"\x80\x02" + array(b"K\x01\x85", b"X\x06\x00\x00\x00\xe2\x98\x83abc") + b"."


def bombs() -> Iterator[tuple[str, bytes]]:
    """Small files for much memory, time or depth."""
    many = 200_000
    for code, name in (
        (b"]", "lists"),
        (b"}", "dicts"),
        (b"\x8f", "sets"),
        (b"(", "marks"),
        (b"N", "values"),
        (b")\x85", "tuples"),
    ):
        yield f"many {name}", b"\x80\x04" + code * many + b"."
    yield "much in the memo", b"\x80\x04]" + b"\x94" * many + b"."
    for begin, end in ((b"]", b"a"), (b"", b"\x85"), (b"}K\x01", b"s"), (b"ccollections\nOrderedDict\n)RK\x01", b"s")):
        yield f"depth by {begin + end!r}", b"\x80\x04" + begin * many + b"N" + end * many + b"."
    yield "a key of depth", b"\x80\x04}" + b"N" + b"\x85" * many + b"Ns."
    yield "an element of depth", b"\x80\x04\x8f(N" + b"\x85" * many + b"\x90."
    yield "a list in itself", b"\x80\x04]\x94h\x00a."
    yield "a tuple in itself", b"\x80\x04]\x94h\x00\x85a."
    yield "a dict in itself", b"\x80\x04}\x94K\x01h\x00s."
    doubled = b"".join([b"](h" + bytes([i]) + b"h" + bytes([i]) + b"e\x94" for i in range(100)])
    yield "lists of the same list", b"\x80\x04]\x94" + doubled + b"."
    pairs = b"".join([b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86\x94" for i in range(100)])
    yield "tuples of the same tuple", b"\x80\x04N\x85\x94" + pairs + b"."
    yield "tuples of the same tuple as a key", b"\x80\x04}N\x85\x94" + pairs + b"Ns."
    megabyte = b"\x8e" + struct.pack("<Q", 1 << 20) + bytes(1 << 20)
    shape = b"\x8a\x04" + struct.pack("<I", 1 << 18) + b"\x85"
    yield "many arrays of the same bytes", b"\x80\x04" + megabyte + b"\x94](" + array(shape, b"h\x00") * 2000 + b"e."
    named = b"(" + (text("n") + b"h\x01\x86") * 5000 + b"l."
    yield "many tensors of one array", b"\x80\x04" + megabyte + b"\x94" + array(shape, b"h\x00") + b"\x94" + named
    string = b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20)
    yield (
        "many bytes of one string",
        b"\x80\x02" + string + b"q\x00" + (b"c_codecs\nencode\nh\x00" + text("latin1") + b"\x86R") * 2000 + b".",
    )
    items = b"](" + b"]K\x01a2a" * 0 + b"K\x01K\x02\x86" * 20000 + b"e"
    yield (
        "many dicts of one list",
        b"\x80\x02" + items + b"q\x00" + b"ccollections\nOrderedDict\nh\x00\x85R" * 20000 + b".",
    )
    yield (
        "many sets of one list",
        b"\x80\x02](" + b"M\x01\x02" * 20000 + b"eq\x00" + b"cbuiltins\nset\nh\x00\x85R" * 20000 + b".",
    )
    cut = {"UnpackBigParamInfor@@": {"w": {"OriginShape": (1 << 40,), "slices": ["p"] * 10000}}, "p": np.zeros(1 << 16)}
    yield "an array of the same part", pickle.dumps(cut, 4)
    parts: list[Any] = [
        3,
        {"w": 3},
        {"w": {"slices": [], "OriginShape": ()}},
        {"w": {"slices": [["p"]], "OriginShape": (3,)}},
        {"w": {"slices": ["p"], "OriginShape": ("a",)}},
    ]
    for part in parts:
        yield f"parts {part}", pickle.dumps({"UnpackBigParamInfor@@": part, "p": np.zeros(1)}, 4)
    tables: list[Any] = [3, {"w": "v"}, {1: 2}, ["a"]]
    for table in tables:
        yield f"names {table}", pickle.dumps({"StructuredToParameterName@@": table}, 4)
    yield "an integer as a key", b"\x80\x02}\x8b" + struct.pack("<I", 1 << 20) + b"\x01" * (1 << 20) + b"Ns."


def tensor_files() -> Iterator[tuple[str, bytes]]:
    """Files of one tensor with wrong numbers."""
    for levels in (1, 2**31, 2**63, 2**64 - 1):
        yield f"{levels} levels", bytes(4) + struct.pack("<Q", levels) + bytes(100)
    yield "a level of many bytes", bytes(4) + struct.pack("<QQ", 1, 2**62) + bytes(100)
    for size in (0, 1, 5, 1000, 2**31 - 1, 2**32 - 1):
        yield f"a description of {size} bytes", bytes(16) + struct.pack("<I", size) + b"\x08\x05\x10\x01" + bytes(8)
    for description in (
        b"\x08\x05\x10" + b"\xff" * 8 + b"\x7f",
        b"\x08\x05" + b"\x10\xff\xff\xff\xff\x0f" * 9,
        b"\x08\x63\x10\x01",
        b"\x10\x01",
        b"\x08\x05\x18\x01",
        b"\x08\x05" + b"\x10\x01" * 100,
        b"\x08\x05\x12\x7f\x01",
        b"\x08" + b"\xff" * 12,
        b"\x08\x05\x10\x00\x10" + b"\xff" * 8 + b"\x7f",
        b"\x08\x05\x10" + b"\xff" * 9 + b"\x01",
    ):
        yield (
            f"the description {description!r}",
            bytes(16) + struct.pack("<I", len(description)) + description + bytes(4),
        )


def damaged(folder: pathlib.Path) -> Iterator[tuple[str, bytes]]:
    """Files of Paddle with every end, and with bytes changed."""
    rng = random.Random(13)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        if path.suffix == ".json" or len(data) > 1000:
            continue
        if data[2:3] == b"\x95":  # without its frame, whose length would give every cut away
            data = data[:2] + data[11:]
        for end in range(len(data)):
            yield f"{path.name} cut at {end}", data[:end]
        for at in range(len(data)):
            for value in {data[at] ^ 1 << rng.randrange(8), rng.choice(INSTRUCTIONS)}:
                yield f"{path.name} with {value} at {at}", data[:at] + bytes([value]) + data[at + 1 :]
        for _ in range(100):
            changed = bytearray(data)
            for _ in range(rng.randrange(2, 6)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            start, end = sorted(rng.randrange(len(data)) for _ in range(2))
            yield f"{path.name} mixed", bytes(changed[:end] + changed[start:])


DATA = (paddle.Tensor, bool, int, float, complex, str, bytes, type(None))
CONTAINERS = (list, tuple, set, frozenset, dict, OrderedDict)


def foreign(value: Any) -> str | None:
    """The type of the first object in a value that is no data, None if all are; a class derived from one of data is foreign.

    The value may be deep and hold itself, so that this neither recurses nor looks at an object twice.
    """
    left, seen = [value], set()
    while left:
        x = left.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if type(x) in CONTAINERS:
            left.extend(x)
            if isinstance(x, dict):
                left.extend(x.values())
        elif isinstance(x, (np.generic, np.dtype)) or type(x) is np.ndarray:
            kind = x if isinstance(x, np.dtype) else x.dtype
            if kind.kind not in "biufc":
                return f"an element of {kind}"
        elif type(x) not in DATA:
            return f"{type(x).__module__}.{type(x).__qualname__}"
    return None


def wrong(name: str, data: bytes, refused: bool) -> str | None:
    """What is wrong with how a file is read, None if nothing is; of refused ones any value is wrong."""
    try:
        value = paddle.load(io.BytesIO(data), return_numpy=len(data) % 2 == 0)
    except EOFError:
        return "an EOFError, but the file is not empty" if data else None
    except ValueError as error:
        return None if ", byte " in str(error) else f"an error without a byte: {error}"
    except MemoryError:
        return "a MemoryError"  # which leaves no room for a longer text
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    if refused or " cut at " in name:
        return f"no error, but {type(value).__name__}"
    found = foreign(value)
    return f"no error, but a value with {found}" if found else None


def limit() -> None:
    """Limits the addresses to those that the process has now and ROOM more, where the system has such a limit."""
    if sys.platform != "linux":
        return
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def peak() -> int:
    """The most memory that the process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> int:
    paddle.load(io.BytesIO(pickle.dumps({"w": np.ones(3)}, 4)))  # whatever is allocated once
    limit()
    before, count, failed = peak(), 0, 0
    folder = pathlib.Path(sys.argv[1])
    groups = ((True, calls()), (True, sizes()), (False, bombs()), (False, tensor_files()), (False, damaged(folder)))
    for refused, group in groups:
        for name, data in group:
            text = wrong(name, data, refused)
            count += 1
            if text:
                failed += 1
                print(f"{name}: {text}"[:400])
    if peak() - before > LIMIT:
        failed += 1
        print(f"{(peak() - before) >> 20} MiB were used; want at most {LIMIT >> 20}")
    print(f"{count} files, {failed} wrong, {(peak() - before) >> 20} MiB")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
