"""Names of PaddlePaddle that this package lacks: what an error says about one.

`_surface.NAMES` lists Paddle's public names. `RULES` says of each namespace whether the names that are missing are
planned or out of scope, and what to use meanwhile. A name that exists never gets here: Python asks a module's
`__getattr__`, the last base class of Tensor and the last finder of imports only for what it has not found. So
nothing in this file changes when a function is added.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Callable, NamedTuple, NoReturn

from ._core._objects import attributes
from ._surface import NAMES

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

PACKAGE = __name__.partition(".")[0]
LATE = (
    "paddle.io",
    "paddle.onnx",
    "paddle.profiler",
    "paddle.serve",
    "paddle.triton_aot",
)  # modules that are imported when they are used

# Modules that lay beside this one in earlier versions, whose pickles of tensors, dtypes, shapes and states name them.
FORMER = ("_core._dtype", "_core._errors", "_core._place", "_core._size", "_devices._random", "_maths._limits")


class Rule(NamedTuple):
    """What holds for missing names of a namespace.

    Attributes:
        tier: 1 tensors, 2 networks with gradients, 3 training: these are planned, in this order; 0 out of scope;
            -1 named otherwise.
        advice: what to use meanwhile, or instead.
        names: those that the rule is about; "" all of which no rule before it speaks.
    """

    tier: int
    advice: str
    names: str = ""


KINDS = {
    -1: "is named otherwise here",
    0: "is out of scope",
    1: "is planned (tier 1, tensors)",
    2: "is planned (tier 2, networks with gradients)",
    3: "is planned (tier 3, training)",
}

_NUMPY = "until then compute it with NumPy from x.numpy() and pass the result to paddle.to_tensor"
_GRADIENTS = "until then write a paddle.autograd.PyLayer, which saves what its gradient needs"
_LOOP = "until then write the loop: loss.backward(), optimizer.step(), optimizer.clear_grad()"
_SUMMARY = "until then print the layer, and add up parameter.size"
_STATIC = "there is no static graph mode; operators run when they are called"
_ONE_DEVICE = "a program uses the devices of one machine: place='mps:0' and Tensor.to"
_ONE_PROCESS = "until then a program is one process; leave the calls out"
_CUDA = "use paddle.mps, which has the same functions for the Apple GPU"
_INTEGERS = "use paddle.uint8 or a signed type"
_INTERNAL = "it is internal to PaddlePaddle; use the public functions of paddle"
_SPARSE = "there are no sparse tensors; use dense ones"
_TORCH = "paddle_mps does not change what `import torch` gives"
_DATA = "until then read batches with NumPy and paddle.to_tensor"

RULES: dict[str, tuple[Rule, ...]] = {
    "paddle": (
        Rule(3, _LOOP, "Model"),
        Rule(3, _SUMMARY, "flops summary"),
        Rule(
            3,
            "until then cast tensors with x.astype('float16')",
            "autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype",
        ),
        Rule(3, _DATA, "batch"),
        Rule(3, _ONE_PROCESS, "DataParallel"),
        Rule(0, _STATIC, "IrGuard ir_guard check_shape"),
        Rule(0, _TORCH, "enable_compat disable_compat use_compat_guard compat"),
        Rule(0, _INTEGERS, "uint16 uint32 uint64"),
        Rule(0, "use paddle.float16 or paddle.bfloat16", "float8_e4m3fn float8_e5m2"),
        Rule(0, "use Python's str and bytes", "pstring raw"),
        Rule(0, "use numpy.memmap", "MmapStorage"),
        Rule(0, "use numpy.hanning and its like", "bartlett_window blackman_window hamming_window hann_window"),
        Rule(0, "use numpy.kaiser", "kaiser_window"),
        Rule(0, "use paddle.device and paddle.mps", "get_device_module"),
        Rule(-1, "use paddle.seed, paddle.get_rng_state and paddle.set_rng_state", "Generator"),
        Rule(-1, "use paddle.get_device", "get_default_device"),
        Rule(-1, "use paddle.set_device", "set_default_device"),
        Rule(1, _NUMPY),
    ),
    "paddle.Tensor": (
        Rule(-1, "set x.grad", "grad_"),
        Rule(2, "until then compose it from sort, cumsum and gather", "top_p_sampling"),
        Rule(-1, "use paddle.create_parameter, or those of a layer", "create_parameter create_tensor"),
        Rule(3, _NUMPY, "stft istft"),
        Rule(
            0,
            _SPARSE,
            "coalesce cols crows dense_dim indices is_coalesced "
            "nnz rows get_selected_rows sparse_dim to_dense to_sparse_coo to_sparse_csr values",
        ),
        Rule(0, _ONE_DEVICE, "num_shard placements process_mesh"),
        Rule(
            0,
            _INTERNAL,
            "block get_map_tensor get_tensor reconstruct_from_ set_string_list set_tensor set_vocab type value",
        ),
        Rule(0, "memory is the CPU's and the GPU's at once, so nothing is to be pinned", "pin_memory"),
        Rule(1, _NUMPY),
    ),
    "paddle.nn": (
        Rule(0, "there are no quantized layers; use float16 or bfloat16", "quant"),
        Rule(3, "until then write a paddle.nn.Layer that calls paddle.nn.functional"),
    ),
    "paddle.nn.functional": (
        Rule(
            0,
            "it is a fused kernel for CUDA; use the operators that it fuses",
            "flash_attention_v3_varlen flash_attn_qkvpacked flash_attn_varlen_qkvpacked flashmask_attention "
            "moe_permute moe_unpermute sparse_attention",
        ),
        Rule(0, _ONE_DEVICE, "class_center_sample margin_cross_entropy"),
        Rule(2, "until then compose it from the operators of paddle"),
    ),
    "paddle.nn.quant": (Rule(0, "there are no quantized layers; use float16 or bfloat16"),),
    "paddle.linalg": (
        Rule(0, "it is a fused kernel for CUDA; use paddle.matmul", "fp8_fp8_half_gemm_fused"),
        Rule(1, "until then use numpy.linalg on x.numpy() and pass the result to paddle.to_tensor"),
    ),
    "paddle.fft": (Rule(1, "until then use numpy.fft on x.numpy()"),),
    "paddle.special": (Rule(1, "the functions of paddle.special are also in paddle and paddle.nn.functional"),),
    "paddle.signal": (Rule(3, "until then use scipy.signal on x.numpy()"),),
    "paddle.autograd": (Rule(2, _GRADIENTS),),
    "paddle.optimizer": (Rule(3, _LOOP),),
    "paddle.amp": (Rule(3, "until then cast tensors with x.astype('float16')"),),
    "paddle.callbacks": (Rule(3, _LOOP),),
    "paddle.hapi": (Rule(3, _LOOP),),
    "paddle.metric": (Rule(3, "until then compute it with the operators of paddle"),),
    "paddle.regularizer": (Rule(3, _LOOP),),
    "paddle.vision": (Rule(3, "until then prepare images with Pillow and NumPy"),),
    "paddle.jit": (Rule(3, "until then call the function as it is: operators run when they are called"),),
    "paddle.static": (Rule(0, _STATIC),),
    "paddle.distributed": (Rule(3, _ONE_PROCESS),),
    "paddle.device": (
        Rule(-1, _CUDA, "get_stream_from_external ipc_collect"),
        Rule(0, "a Mac has no such device; use paddle.CPUPlace or paddle.MPSPlace", "xpu"),
        Rule(1, "use paddle.mps"),
    ),
    "paddle.device.cuda": (Rule(-1, _CUDA),),
    "paddle.device.xpu": (Rule(0, "a Mac has no such device; use paddle.mps"),),
    "paddle.cuda": (Rule(-1, _CUDA),),
    "paddle.profiler": (Rule(0, _INTERNAL),),
    "paddle.tensor": (Rule(-1, "its functions are in paddle itself"),),
    "paddle.base": (Rule(0, _INTERNAL),),
    "paddle.framework": (Rule(0, _INTERNAL),),
    "paddle.version": (Rule(0, "it names a library that paddle_mps does not use"),),
    "paddle.compat": (Rule(0, _TORCH),),
    "paddle.sparse": (Rule(0, _SPARSE),),
    "paddle.distribution": (Rule(3, "until then use paddle.normal, paddle.uniform and formulas for densities"),),
    "paddle.quantization": (Rule(0, "there are no quantized layers; use float16 or bfloat16"),),
    "paddle.audio": (Rule(0, "use librosa or scipy.signal, and paddle.to_tensor"),),
    "paddle.text": (Rule(0, "read the data with NumPy and paddle.to_tensor"),),
    "paddle.geometric": (Rule(0, "use paddle.gather and reductions"),),
    "paddle.hub": (Rule(0, "download the files yourself"),),
    "paddle.incubate": (Rule(0, "use the functions of paddle and paddle.nn.functional"),),
    "paddle.inference": (
        Rule(
            0,
            "it loads saved models, which paddle_mps cannot yet; convert them with paddle2onnx and use paddle_mps.onnx.load",
        ),
    ),
    "paddle.onnx": (Rule(3, "export with PaddlePaddle; `paddle.onnx.load` runs ONNX files"),),
    "paddle.sysconfig": (Rule(0, "it names files of PaddlePaddle; the C header is include/paddlemps.h"),),
    "paddle.utils.unique_name": (Rule(3, "until then number the names yourself"),),
    "paddle.utils": (
        Rule(3, "until then download the file yourself", "download"),
        Rule(0, "it serves PaddlePaddle's own code; use Python's standard library"),
    ),
}


# Names of old programs, which Paddle itself has no longer.
REMOVED = {
    "paddle.fluid": "use paddle.nn for its layers and dygraph, paddle.optimizer, paddle.io, and paddle.to_tensor for to_variable",
}


def rule(namespace: str, name: str) -> Rule | None:
    """The rule for a public name of Paddle, such as ("paddle.nn", "Linear"); None: Paddle has no such name."""
    path = f"{namespace}.{name}"
    if path in RULES and path != "paddle.Tensor":
        return RULES[path][-1]
    if name not in NAMES.get(namespace, "").split():
        return None
    while namespace not in RULES:
        namespace = namespace.rpartition(".")[0]
    return next(r for r in RULES[namespace] if not r.names or name in r.names.split())


def explanation(namespace: str, name: str) -> str | None:
    """What an error says about a public name of Paddle that is missing; None: Paddle has no such name."""
    if f"{namespace}.{name}" in REMOVED:
        return f"[{namespace}] {name} was removed from PaddlePaddle: {REMOVED[f'{namespace}.{name}']}"
    found = rule(namespace, name)
    return None if found is None else f"[{namespace}] {name} {KINDS[found.tier]}: {found.advice}"


def getter(module: ModuleType, namespace: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a module that stands for a namespace of Paddle: imports what is late, and explains what is missing."""

    def missing(name: str) -> ModuleType:
        if f"{namespace}.{name}" in LATE:
            return importlib.import_module(f"{module.__name__}.{name}")
        text = explanation(namespace, name)
        if text is not None:
            raise AttributeError(text)
        error = AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        for key, value in (("name", name), ("obj", module)):  # what "Did you mean" is made of
            setattr(error, key, value)
        raise error

    return missing


def lister(module: ModuleType, namespace: str) -> Callable[[], list[str]]:
    """The `__dir__` of such a module: its public names and Paddle's, without what it has imported for itself."""

    def listed() -> list[str]:
        public = {*getattr(module, "__all__", ()), *NAMES[namespace].split()}
        return [name for name in vars(module) if name in public or name.startswith("_")]

    return listed


class Absent:
    """An attribute of Tensor that does not exist, and says why. `hasattr` is False."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(explanation("paddle.Tensor", self.name))

    def __set__(self, instance: object, value: object) -> NoReturn:
        raise AttributeError(explanation("paddle.Tensor", self.name))


class Present(type):
    """The class of classes with absent attributes: `dir` leaves those out, and attributes that a program has set on a tensor."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not (name in absent or name in attributes) or hasattr(cls, name)]


absent = {name: Absent(name) for name in NAMES["paddle.Tensor"].split()}


class AbsentMethods(metaclass=Present):
    """The last base class of Tensor. `__getattr__` would do as well, but makes every attribute slower."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *[name for name in attributes if hasattr(self, name)]})


for _name, _absent in absent.items():
    setattr(AbsentMethods, _name, _absent)


class Finder:
    """The last finder of imports: raises for `import paddle_mps.distributed` and `from paddle_mps import grad`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != PACKAGE or not rest:
            return None
        namespace, _, name = f"paddle.{rest}".rpartition(".")
        text = explanation(namespace, name)
        if text is None:
            return None
        # With the name in this form `from paddle_mps import X` lets the error pass.
        raise ModuleNotFoundError(text, name=f"{namespace}.{name}")


def explain(package: str) -> None:
    """Makes the modules that a package has imported explain the names of Paddle that they lack."""
    for namespace in NAMES:
        module = sys.modules.get(package + namespace[len("paddle") :])
        if module is None:
            continue
        vars(module)["__getattr__"] = getter(module, namespace)
        vars(module)["__dir__"] = lister(module, namespace)
        # Only for a module with a path does `from module import name` ask the finders of imports.
        vars(module).setdefault("__path__", [])
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())


def keep_former_names(package: str) -> None:
    """Lets `pickle` find what earlier versions wrote under the former names of modules."""
    for name in FORMER:
        sys.modules[f"{package}.{name.rpartition('.')[2]}"] = sys.modules[f"{package}.{name}"]


__all__ = ["KINDS", "RULES", "AbsentMethods", "Rule", "explain", "explanation", "keep_former_names", "rule"]
