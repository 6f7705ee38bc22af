"""The plug-in as Triton sees it: discovery, options, limits. Kernels that are compiled and run are in run.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paddle_mps as paddle
from paddle_mps_triton import _options
from paddle_mps_triton.compiler import MPSBackend

ORDERS = [
    "import triton",
    "import triton.language as tl, triton",
    "from triton.runtime import driver; import triton",
    "import paddle_mps_triton, triton",
    "import paddle_mps_triton.compiler, triton",
    "import paddle_mps_triton.driver, triton",
    "from paddle_mps_triton import driver, compiler; import triton",
    "import paddle_mps, triton",
    "import triton, paddle_mps",
]


def python(program: str, **environment: str) -> str:
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("order", ORDERS)
def test_imports_in_any_order(order: str):
    told = python(
        f"{order}\nprint(triton.runtime.driver.MPSDriver.__name__, type(triton.runtime.driver.active).__name__)"
    )
    assert told == "MPSDriver MPSDriver\n"


def test_importing_triton_loads_neither_numpy_nor_the_library():
    program = "import sys, triton\nprint('numpy' in sys.modules, 'paddle_mps' in sys.modules, 'libpaddlemps' in open('/proc/self/maps').read())"
    assert python(program) == "False False False\n"


def test_it_is_inactive_off_a_mac():
    assert "0 active drivers" in python("import triton; triton.runtime.driver.active", PADDLE_MPS_TRITON="")
    told = python(
        "import triton; d = triton.runtime.driver; d.set_active(d.MPSDriver()); print(d.active.get_current_target().backend)",
        PADDLE_MPS_TRITON="",
    )
    assert told == "paddle-mps\n"


def test_the_target_is_ours_alone():
    from triton.backends import backends
    from triton.backends.compiler import GPUTarget

    target = GPUTarget(_options.TARGET, "metal", 32)
    assert [name for name, b in backends.items() if b.compiler.supports_target(target)] == ["mps"]
    for foreign in ("cuda", "hip", "metal", "mps", "apple"):
        assert not MPSBackend.supports_target(GPUTarget(foreign, 0, 32))


def test_each_option_is_of_one_class():
    honoured = {"num_warps", "debug", "enable_fp_fusion", "allow_f64_as_f32", "max_threads", "shared_memory"}
    front = _options.FIELDS - honoured - set(_options.ACCEPTED) - set(_options.REFUSED)
    assert not honoured & set(_options.ACCEPTED) and not set(_options.ACCEPTED) & set(_options.REFUSED)
    assert front == {
        "backend_name", "arch", "sanitize_overflow", "fpsan_homomorphic_casts", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
        "default_dot_input_precision", "allowed_dot_input_precisions", "max_num_imprecise_acc_default",
    }  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"num_ctas": 2},
        {"launch_cooperative_grid": True},
        {"num_warps": 3},
        {"num_warps": 0},
        {"warp_size": 64},
        {"cluster_dims": (2, 1, 1)},
    ],
)
def test_an_option_is_refused_by_its_name(given: dict[str, object]):
    with pytest.raises(paddle.UnsupportedError, match=next(iter(given))):
        _options.parse(given)


def test_options_without_effect_and_parameters_of_kernels():
    options = _options.parse({"num_stages": 5, "waves_per_eu": 2, "maxnreg": 64, "BLOCK": 128, "num_warps": 8})
    assert options.num_stages == 5 and options.num_warps == 8
    assert options.hash() != _options.parse({"num_warps": 8}).hash()


def test_set_kernel_config():
    from triton.runtime import driver

    configure = driver.MPSDriver.set_kernel_config
    try:
        configure(num_warps=8, shared_memory=1024, max_threads=512, num_stages=2)
        assert _options.parse({}).num_warps == 8 and _options.parse({}).shared_memory == 1024
        assert _options.parse({"num_warps": 1}).num_warps == 1
        for name, value, limit in [
            ("num_warps", 64, 32),
            ("max_threads", 2048, 1024),
            ("shared_memory", 65536, 32768),
            ("num_warps", 0, 32),
        ]:
            with pytest.raises(ValueError, match=f"{name} is {value}; want 1 to {limit}"):
                configure(**{name: value})
        with pytest.raises(ValueError, match="power of 2"):
            configure(num_warps=3)
    finally:
        _options.defaults.clear()


def test_memory_pool():
    from triton.runtime import driver

    pool = driver.MPSDriver.memory_pool()
    before = pool.current_allocated
    x = paddle.empty([1 << 20], dtype="float32", place="mps")
    assert pool.current_allocated >= before + x.numel() * 4 and pool.max_allocated >= pool.current_allocated
