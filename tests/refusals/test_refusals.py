"""What Apple's compilers refuse costs time and nothing else: the mock refuses each shader, pipeline and graph in turn.

First some cases of the conformance suite run one by one, each with nothing compiled, to find out what it has compiled.
Then each of those names is refused, and a case that needs it has to give the same results, by another kernel of the
GPU or by the CPU. build.sh runs this once with shaders first and once with MPSGraph first. Operators take turns: see
tests/sampling.py.

PADDLE_MPS_LONG=1 adds all cases of each operator, and for each of them every name that it needs. This takes hours, so it
can be ended and started again: with --resume FILE, operators that FILE lists for this build are passed over, and one
that is finished is added to it.
"""

from __future__ import annotations

import collections
import ctypes
import hashlib
import os
import pathlib
import subprocess
import sys
import time

import pytest

import paddle_mps as paddle
import sampling
from paddle_mps.selftest import suite

LIBRARY = os.environ.get("PADDLE_MPS_METAL_LIBRARY", "")
GRAPHS = os.environ.get("PADDLE_MPS_PREFER") == "mpsgraph"
LONG = os.environ.get("PADDLE_MPS_LONG") == "1"
WHICH = {"same", "strided", "scalar"}  # layouts; of one dtype for each operator

pytestmark = pytest.mark.skipif(not suite.METAL or not LIBRARY, reason="this is about the mock of Metal")


TURNS = 5

# So many names there are of each kind, at least, and a part of them in each turn.
LEAST = (
    {"library": 10, "pipeline": 10, "executable": 60} if GRAPHS else {"library": 180, "pipeline": 180, "executable": 0}
)


class Mock:
    """The part of the mock that refuses."""

    def __init__(self) -> None:
        library = ctypes.CDLL(LIBRARY)
        self._refuse, self._used, self._count = (
            library.fakemetal_refuse,
            library.fakemetal_used,
            library.fakemetal_count,
        )
        self._refuse.argtypes = [ctypes.c_char_p]
        self._used.argtypes, self._used.restype = [ctypes.c_char_p, ctypes.c_int64], ctypes.c_int64
        self._count.argtypes, self._count.restype = [ctypes.c_char_p], ctypes.c_int64

    def refuse(self, patterns: str) -> None:
        """Refuses these from now on, and forgets what has been compiled, as the library does."""
        paddle.mps.synchronize()
        self._refuse(patterns.encode())
        paddle.mps.empty_cache()

    def used(self) -> list[str]:
        """The names of what has been compiled since: "library:run#1f3a09bc"."""
        text = ctypes.create_string_buffer(self._used(None, 0) + 1)
        self._used(text, len(text))
        return text.value.decode().replace(" ", ":").split()

    def refused(self) -> int:
        """How often something has been refused."""
        return int(self._count(b"refused"))


def chosen() -> list[suite.Case]:
    """The cases to run."""
    cases = list(suite.cases(suite.dtypes("mps")))
    first: dict[str, str] = {}
    for case in cases:
        if case.dtype == "float32" or case.name not in first:
            first[case.name] = case.dtype
    some = [c for c in cases if c.dtype == first[c.name] and c.layout in WHICH]
    return [c for c in some if sampling.note(TURNS, sampling.takes(TURNS, c.name))]


Users = dict[str, list[suite.Case]]


@pytest.fixture(scope="module")
def mock() -> Mock:
    return Mock()


def users_among(mock: Mock, cases: list[suite.Case]) -> Users:
    """The cases that compile something, by its name, the fastest one first."""
    found: dict[str, list[tuple[float, suite.Case]]] = collections.defaultdict(list)
    for case in cases:
        mock.refuse("")
        started = time.monotonic()
        suite.check(case, "mps")
        for name in mock.used():
            found[name].append((time.monotonic() - started, case))
    return {name: [case for _, case in sorted(timed)] for name, timed in found.items()}


@pytest.fixture(scope="module")
def users(mock: Mock) -> Users:
    return users_among(mock, chosen())


# A case with a refusal, in a process of its own.
ALONE = """
import sys
import paddle_mps as paddle
from paddle_mps.selftest import suite
suite.check(suite.Case(*sys.argv[1:]), "mps")
assert paddle.mps.memory_stats()["refused_shaders"] > 0, "nothing is refused"
"""


def refuse_alone(name: str, case: suite.Case) -> None:
    """Refuses a shader that stages operands of graphs: those stay for all programs of a process."""
    env = {**os.environ, "FAKEMETAL_REFUSE": name}
    done = subprocess.run([sys.executable, "-c", ALONE, *case], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, f"{case} without {name}: {done.stderr}"


def refuse_each(mock: Mock, users: Users, names: list[str], most: int | None = 1) -> None:
    """Refuses one name after the other, each for so many of the cases that need it."""
    for name in names:
        for case in users[name][:most]:
            if GRAPHS and not name.startswith("executable:"):
                refuse_alone(name, case)
                continue
            mock.refuse(name)
            before, known = paddle.mps.memory_stats(), mock.refused()
            suite.check(case, "mps")
            after = paddle.mps.memory_stats()
            if mock.refused() == known:  # it is shared with one that stages operands of a graph, which stands in by now
                refuse_alone(name, case)
                continue
            counted = sum(after[key] - before[key] for key in ("refused_shaders", "refused_graphs"))
            assert counted > 0, f"{case}: {name} is refused and not counted"
    mock.refuse("")


def of_kind(users: Users, kind: str) -> list[str]:
    return sorted(name for name in users if name.startswith(kind + ":"))


@pytest.mark.parametrize("kind", ["library", "pipeline", "executable"])
def test_each_is_refused(mock: Mock, users: Users, kind: str) -> None:
    names = of_kind(users, kind)
    least = LEAST[kind] // (2 * TURNS) if sampling.sampled() else LEAST[kind]
    assert len(names) >= least, f"only {len(names)} of kind {kind} are compiled"
    refuse_each(mock, users, names)
    print(f"{len(names)} of kind {kind} were refused in turn")


class Finished:
    """The operators that a file lists for this build of the library and of the mock."""

    def __init__(self, path: str | None) -> None:
        built = (LIBRARY, pathlib.Path(paddle.__file__).with_name("libpaddlemps.so"))
        self._build = hashlib.sha256(b"".join(pathlib.Path(file).read_bytes() for file in built)).hexdigest()[:16]
        self._path = pathlib.Path(path) if path else None

    def __contains__(self, operator: str) -> bool:
        if self._path is None or not self._path.exists():
            return False
        return f"{self._build} {operator}" in self._path.read_text().splitlines()

    def add(self, operator: str) -> None:
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(f"{self._build} {operator}\n")


@pytest.fixture(scope="module")
def finished(request: pytest.FixtureRequest) -> Finished:
    return Finished(request.config.getoption("--resume"))


@pytest.mark.skipif(not LONG, reason="takes hours; test long runs it")
@pytest.mark.parametrize("operator", sorted(suite.BY_NAME))
def test_all_cases_of_an_operator(mock: Mock, finished: Finished, operator: str) -> None:
    if operator in finished:
        pytest.skip("finished with this build before, as the file of --resume says")
    needed = users_among(mock, [case for case in suite.cases(suite.dtypes("mps")) if case.name == operator])
    refuse_each(mock, needed, sorted(needed), most=None)
    finished.add(operator)


def test_pipelines_of_few_threads(mock: Mock, users: Users) -> None:
    """A kernel that needs more threads than its pipeline allows is refused; all others run with fewer."""
    cases = {case for name in of_kind(users, "pipeline") for case in users[name][:1]}
    mock.refuse("threads:*")
    for case in sorted(cases):
        suite.check(case, "mps")
    before = paddle.mps.memory_stats()["refused_shaders"]
    suite.check(suite.Case("matmul", "int32", "same"), "mps")  # whose shader has a tile of 16 by 16 threads
    after = paddle.mps.memory_stats()["refused_shaders"]
    mock.refuse("")
    assert after > before or GRAPHS


def test_memory_is_no_refusal(mock: Mock) -> None:
    """A compiler without memory is an error of the call, and the next call compiles again."""
    library = ctypes.CDLL(LIBRARY)
    library.fakemetal_fail.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int]
    case = suite.Case("linspace", "float32", "same")  # which only a shader computes
    mock.refuse("")
    before = paddle.mps.memory_stats()
    library.fakemetal_fail(b"library", 1, 12)
    with pytest.raises(MemoryError, match="Cannot allocate memory"):
        suite.check(case, "mps")
    suite.check(case, "mps")
    after = paddle.mps.memory_stats()
    assert [after[k] - before[k] for k in ("refused_shaders", "refused_graphs", "second_way_steps")] == [0, 0, 0]
