"""paddle.mps: devices, places, memory statistics, streams, events, random numbers, processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps


@pytest.fixture(autouse=True)
def cpu_again() -> object:
    yield
    paddle.set_device("cpu")


def run(program: str, timeout: float = 60, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **env}, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_devices() -> None:
    assert mps.is_available() and paddle.is_available() and mps.is_initialized()
    assert paddle.is_compiled_with_mps() is True
    assert mps.device_count() >= 1
    properties = mps.get_device_properties()
    assert properties.backend in ("metal", "host")
    assert properties.total_memory > 2**20 and isinstance(properties.total_memory, int)
    assert mps.get_device_name("mps:0") == mps.get_device_name(paddle.MPSPlace(0)) == properties.name
    assert mps.get_device_capability(0) == (properties.major, properties.minor)
    assert mps.is_bf16_supported() is properties.has_bfloat16
    assert mps.recommended_max_memory() == properties.recommended_memory
    with pytest.raises(paddle.DeviceError):
        mps.get_device_properties(99)
    with pytest.raises(ValueError, match="cpu"):
        mps.get_device_properties("cpu")


def test_the_current_place() -> None:
    assert paddle.get_device() == "cpu"
    assert paddle.set_device("mps") == paddle.MPSPlace(0)
    assert paddle.get_device() == "mps:0" and paddle.ones([1]).device == "mps:0"
    with mps.device_guard("cpu"):
        assert paddle.ones([1]).device == "cpu"
    assert str(paddle.set_device("cpu")) == "Place(cpu)"
    mps.set_device(0)
    assert (paddle.get_device(), mps.current_device()) == ("mps:0", 0)
    for wrong in ("gpu", "mps:x", "mps:-1", "cpu:0", 1.5):
        with pytest.raises(ValueError, match="place"):
            paddle.set_device(wrong)  # type: ignore[arg-type]
    with pytest.raises(paddle.DeviceError):
        paddle.set_device("mps:99")
    assert paddle.get_device() == "mps:0"


def test_copies() -> None:
    x = paddle.arange(6.0).reshape([2, 3]).T
    there = x.mps()
    again = there.to("mps", blocking=False)
    assert (there.device, again.device, there.cpu().device) == ("mps:0", "mps:0", "cpu")
    np.testing.assert_array_equal(there.numpy(), x.numpy())
    np.testing.assert_array_equal(again.cpu().numpy(), x.numpy())
    assert there.to("cpu", "int32").dtype == "int32"
    x.copy_(there * 2)
    np.testing.assert_array_equal(x.numpy(), there.numpy() * 2)
    with pytest.raises(TypeError, match="float32"):
        x.astype("float64").mps()


def test_memory_statistics() -> None:
    mps.empty_cache()
    before = mps.memory_allocated()
    x = paddle.zeros([1 << 18], place="mps")
    assert mps.memory_allocated("mps") - before == 1 << 20
    assert mps.memory_reserved() >= mps.memory_allocated() == mps.current_allocated_memory(0)
    assert mps.driver_allocated_memory() == mps.memory_reserved()
    del x
    assert mps.memory_allocated() == before
    assert mps.max_memory_allocated() >= before + (1 << 20)
    assert mps.max_memory_reserved() >= mps.memory_reserved()
    mps.reset_max_memory_allocated()
    assert mps.max_memory_allocated() == before
    mps.reset_max_memory_reserved()
    mps.reset_peak_memory_stats()
    stats = mps.memory_stats()
    assert stats["allocated_bytes.all.current"] == before
    assert stats["allocated_bytes.all.allocated"] - stats["allocated_bytes.all.freed"] == before
    free, total = mps.mem_get_info()
    assert 0 < free <= total == mps.get_device_properties().total_memory


def test_streams_and_events() -> None:
    stream, start, end = mps.Stream(), mps.Event(enable_timing=True), mps.Event(enable_timing=True)
    x = paddle.ones([1 << 18], place="mps")
    with mps.stream_guard(stream):
        assert mps.current_stream() == stream
        start.record()
        for _ in range(20):
            x = x + 1.0
        end.record()
    assert mps.current_stream() == mps.default_stream() != stream
    mps.current_stream().wait_event(end)
    end.synchronize()
    assert end.query() and start.query()
    assert 0 < start.elapsed_time(end) < 60_000
    stream.synchronize()
    assert stream.query()
    assert x[0].item() == 21.0
    assert mps.set_stream(stream) == mps.default_stream()
    assert mps.set_stream(None) is stream
    mps.current_stream().wait_stream(stream)
    mps.synchronize()
    with pytest.raises(paddle.UnsupportedError):
        mps.Stream(priority=1)
    with pytest.raises(paddle.UnsupportedError):
        mps.Event(interprocess=True)


def test_a_stream_may_go_while_its_work_runs() -> None:
    x = paddle.ones([1 << 20], place="mps")
    with mps.stream(mps.Stream()):
        for _ in range(10):
            x = x + 1.0
    assert x.numpy()[-1] == 11.0


@pytest.mark.parametrize("make", ["randn([1000])", "rand([1000])", "randint(0, 100, [1000])", "randperm(1000)"])
def test_random_numbers_follow_the_seed(make: str) -> None:
    drawn = []
    for place in ("cpu", "mps", "cpu"):
        with mps.device_guard(place):
            paddle.seed(7)
            drawn.append(eval(f"paddle.{make}").numpy())
            assert not np.array_equal(eval(f"paddle.{make}").numpy(), drawn[-1])
    np.testing.assert_array_equal(drawn[0], drawn[2])
    if make.startswith("randn") and mps.get_device_properties().backend == "metal":
        np.testing.assert_allclose(drawn[1], drawn[0], rtol=1e-5, atol=1e-6)  # the GPU's logarithm and sine
    else:
        np.testing.assert_array_equal(drawn[0], drawn[1])


def test_distributions() -> None:
    paddle.seed(1)
    x = paddle.randn([1 << 16]).numpy().astype(np.float64)
    assert abs(x.mean()) < 4 / 256 and abs(x.std() - 1) < 4 / 256
    u = paddle.uniform([1 << 16], min=-2.0, max=3.0).numpy()
    assert u.min() >= -2 and u.max() < 3 and abs(u.mean() - 0.5) < 0.05
    i = paddle.randint(-3, 4, [1 << 12]).numpy()
    assert set(i.tolist()) == set(range(-3, 4))
    assert sorted(paddle.randperm(100).tolist()) == list(range(100))
    means = paddle.to_tensor([0.0, 100.0])
    assert abs(paddle.normal(means, 0.5).numpy() - [0, 100]).max() < 5


def test_rng_state() -> None:
    mps.manual_seed(3)
    state = mps.get_rng_state()
    first = paddle.randn([5], place="mps").tolist()
    mps.set_rng_state(state)
    assert paddle.randn([5], place="mps").tolist() == first
    mps.manual_seed_all(3)
    assert mps.get_rng_state() == state
    assert isinstance(mps.seed(), int)
    one = paddle.uniform([3], seed=5, place="mps").tolist()
    assert paddle.uniform([3], seed=5).tolist() == one
    with pytest.raises(TypeError):
        paddle.seed(-1)


WITHOUT = """
import paddle_mps as paddle
from paddle_mps import mps
assert not mps.is_available() and paddle.is_compiled_with_mps()
assert mps.device_count() == mps.memory_allocated() == mps.max_memory_reserved() == 0
assert mps.memory_stats() == {}
mps.empty_cache(); mps.reset_max_memory_allocated(); mps.manual_seed(1); paddle.seed(1)
assert (paddle.ones([2]) + 1).tolist() == [2.0, 2.0]
assert paddle.get_device() == "cpu"
for call in (mps.get_device_properties, lambda: paddle.ones([2], place="mps"), lambda: paddle.ones([2]).mps(),
             lambda: mps.set_device(0), lambda: mps.Stream(), lambda: mps.synchronize()):
    try:
        call()
    except paddle.DeviceError as error:
        message = str(error)
    else:
        raise SystemExit("no error")
paddle.show_config()
print(message)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a Mac may have a device")
def test_without_a_device() -> None:
    said = run(WITHOUT, PADDLE_MPS_DEVICE="auto")
    assert re.search(
        r"^mps is not available: this is Linux [\w-]+ without Metal. Use place='cpu', or "
        r"PADDLE_MPS_DEVICE=host for an emulated mps \(CPU speed\).$",
        said,
        re.MULTILINE,
    )


def test_memory_that_only_garbage_holds_is_found_again() -> None:
    program = """
import gc
import paddle_mps as paddle
gc.disable()
loop = [paddle.ones([10 << 20], place="mps")]  # 40 of 64 MiB
loop.append(loop)
del loop
print(paddle.ones([10 << 20], place="mps")[0].item())
try:
    paddle.ones([100 << 20], place="mps")
except paddle.OutOfMemoryError as error:
    print(isinstance(error, MemoryError), paddle.mps.memory_stats()["num_ooms"] > 0)
"""
    assert run(program, MPS_MAX_POOL_SIZE=str(64 << 20)) == "1.0\nTrue True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_a_forked_child_gets_an_error_and_does_not_hang() -> None:
    program = """
import os, warnings; warnings.simplefilter("ignore")
import paddle_mps as paddle
x = paddle.ones([2])
child = os.fork()
if not child:
    failed = 0
    for call in (lambda: x + x, x.numpy, lambda: paddle.ones([2]), lambda: x[0], paddle.mps.get_device_properties):
        try:
            call()
        except RuntimeError as error:
            failed += "fork" in str(error)
    del x
    os._exit(failed)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (x + x).tolist())
"""
    assert run(program) == "5 [2.0, 2.0]\n"


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_wait() -> None:
    program = """
import paddle_mps as paddle, os, signal, sys, threading, time
x = paddle.ones([1200, 1200], place="mps")
for _ in range(40):
    y = x @ x
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    while time.perf_counter() - start < 20:
        y = x @ x
        paddle.mps.synchronize()
except KeyboardInterrupt:
    print(time.perf_counter() - start < 5)
sys.stdout.flush()
os._exit(0)
"""
    start = time.perf_counter()
    assert run(program) == "True\n"
    assert time.perf_counter() - start < 30


def test_programs_of_the_original_run(capsys: pytest.CaptureFixture[str]) -> None:
    paddle.mps.set_device(0)
    props = paddle.mps.get_device_properties()
    print(paddle.mps.current_device(), paddle.mps.get_device_name(), props.total_memory / 1024**3)
    x = paddle.to_tensor([1.0, 2.0, 3.0], place="mps")
    y = paddle.to_tensor([4.0, 5.0, 6.0], place="mps")
    print(paddle.add(x, y), paddle.multiply(x, y), paddle.abs(x), paddle.exp(x), paddle.log(x + 1.0), paddle.sqrt(x))
    print(paddle.nn.functional.relu(x), paddle.nn.functional.sigmoid(x))
    print(paddle.mps.memory_allocated(), paddle.mps.memory_reserved(), paddle.mps.max_memory_allocated())
    paddle.mps.empty_cache()
    paddle.mps.reset_max_memory_allocated()
    z = paddle.randn([2, 3], dtype="float32", place="mps") + paddle.randn([2, 3], dtype="float32", place="mps")
    assert z.numpy().shape == (2, 3)
    assert "[5., 7., 9.]" in capsys.readouterr().out


def test_memory_of_the_cpu_by_name() -> None:
    before = mps.memory_allocated("cpu")
    x = paddle.zeros([1 << 20], place="cpu")
    assert mps.memory_allocated("cpu") == before + 4 * 2**20 == mps.memory_stats("cpu")["allocated_bytes.all.current"]
    assert mps.max_memory_allocated(paddle.CPUPlace()) >= before + 4 * 2**20
    del x
    assert mps.memory_allocated("cpu") == before
    mps.reset_max_memory_allocated("cpu")
    assert mps.max_memory_allocated("cpu") == before
    mps.empty_cache("cpu")
