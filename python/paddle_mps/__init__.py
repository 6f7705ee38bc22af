"""PaddlePaddle's tensors and operators on the Apple GPU and the CPU.

    import paddle_mps as paddle

    paddle.set_device("mps")
    x = paddle.randn([2, 3])
    print(paddle.exp(x) + 1)

Names, arguments and results are those of PaddlePaddle; docs/differences.md lists the deliberate
differences.
"""

import math as _math
import typing as _typing

from . import (
    _missing,
    autograd,
    cuda,
    device,
    fft,
    func,
    incubate,
    jit,
    linalg,
    metric,
    mps,
    nn,
    optimizer,
    regularizer,
    special,
    static,
    utils,
    version,
)
from ._arrays import _made, _queries, _range, _shapes, _typed
from ._arrays._array import (
    bmm,
    broadcast_to,
    cat,
    chunk,
    concat,
    expand,
    expand_as,
    flatten,
    flatten_,
    flip,
    nonzero,
    numel,
    permute,
    rank,
    reshape,
    reshape_,
    shape,
    slice,
    split,
    squeeze,
    squeeze_,
    stack,
    t,
    t_,
    tile,
    transpose,
    transpose_,
    unbind,
    unsqueeze,
    unsqueeze_,
)
from ._arrays._creation import (
    arange,
    empty,
    empty_like,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    to_tensor,
    zeros,
    zeros_like,
)
from ._arrays._dlpack import from_dlpack
from ._arrays._made import *  # noqa: F403
from ._arrays._queries import *  # noqa: F403
from ._arrays._range import *  # noqa: F403
from ._arrays._repr import set_printoptions
from ._arrays._shapes import *  # noqa: F403
from ._arrays._typed import *  # noqa: F403
from ._calls._grad import enable_grad, grad, is_grad_enabled, is_tensor, no_grad, set_grad_enabled
from ._core._dtype import DType as dtype
from ._core._dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from ._core._dtype import bool_ as bool
from ._core._dtype import complex64 as cfloat
from ._core._dtype import complex128 as cdouble
from ._core._dtype import float16 as half
from ._core._dtype import float32 as float
from ._core._dtype import float64 as double
from ._core._dtype import int16 as short
from ._core._dtype import int32 as int
from ._core._dtype import int64 as long
from ._core._errors import (
    DeviceError,
    IntegerDivisionError,
    OutOfMemoryError,
    ShaderError,
    TracingError,
    UnsupportedError,
)
from ._core._place import CPUPlace, MPSPlace, Place
from ._core._size import Size
from ._devices import _flags, _platform
from ._devices._device import get_device, is_available, is_compiled_with_mps, set_device, show_config
from ._devices._flags import *  # noqa: F403
from ._devices._memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
)
from ._devices._platform import *  # noqa: F403
from ._devices._random import get_cuda_rng_state, get_rng_state, seed, set_cuda_rng_state, set_rng_state
from ._devices._random import seed as manual_seed
from ._files._load import load
from ._files._save import async_save, clear_async_save_task_queue, save
from ._indices import _counting, _diagonals, _scatter, _sorting
from ._indices._counting import *  # noqa: F403
from ._indices._diagonals import *  # noqa: F403
from ._indices._scatter import *  # noqa: F403
from ._indices._sorting import *  # noqa: F403
from ._install import install
from ._layers._parameter import LazyGuard, ParamAttr, create_parameter
from ._maths import (
    _complex_gradients,  # noqa: F401  # it registers itself
    _elementwise,
    _limits,
    _ops,
    _parts,
    _special,
)
from ._maths._arithmetic import (
    add,
    assign,
    bitwise_left_shift,
    bitwise_left_shift_,
    bitwise_right_shift,
    bitwise_right_shift_,
    cast,
    cast_,
    clip,
    divide,
    mean,
    pow,
    pow_,
    round,
    softmax,
    subtract,
    subtract_,
    sum,
    trunc,
    trunc_,
    where,
)
from ._maths._elementwise import *  # noqa: F403
from ._maths._limits import *  # noqa: F403
from ._maths._ops import *  # noqa: F403
from ._maths._ops import sigmoid
from ._maths._parts import *  # noqa: F403
from ._maths._special import *  # noqa: F403
from ._matrices import _einsum, _products, _statistics
from ._matrices._einsum import *  # noqa: F403
from ._matrices._factorizations import cholesky, eigvalsh
from ._matrices._factorizations import inv as inverse
from ._matrices._products import *  # noqa: F403
from ._matrices._statistics import *  # noqa: F403
from ._randomness import _distributions
from ._randomness._distributions import *  # noqa: F403
from ._randomness._sampling import (
    normal,
    normal_,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    standard_normal,
    uniform,
)
from ._tensor import Tensor
from ._version import __version__
from .device import Event, Stream, device_guard
from .nn.functional import adaptive_avg_pool1d, conv1d, conv2d, conv3d, group_norm, layer_norm
from .utils.dlpack import to_dlpack

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None

__all__ = [
    "CPUPlace",
    "DeviceError",
    "Event",
    "IntegerDivisionError",
    "LazyGuard",
    "MPSPlace",
    "OutOfMemoryError",
    "ParamAttr",
    "Place",
    "ShaderError",
    "Size",
    "Stream",
    "Tensor",
    "TracingError",
    "UnsupportedError",
    "__version__",
    "adaptive_avg_pool1d",
    "add",
    "arange",
    "assign",
    "async_save",
    "autograd",
    "bfloat16",
    "bitwise_left_shift",
    "bitwise_left_shift_",
    "bitwise_right_shift",
    "bitwise_right_shift_",
    "bmm",
    "bool",
    "broadcast_to",
    "cast",
    "cast_",
    "cat",
    "cdouble",
    "cfloat",
    "cholesky",
    "chunk",
    "clear_async_save_task_queue",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conv1d",
    "conv2d",
    "conv3d",
    "create_parameter",
    "cuda",
    "device",
    "device_guard",
    "divide",
    "double",
    "dtype",
    "e",
    "eigvalsh",
    "empty",
    "empty_cache",
    "empty_like",
    "enable_grad",
    "expand",
    "expand_as",
    "fft",
    "flatten",
    "flatten_",
    "flip",
    "float",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "full",
    "full_like",
    "func",
    "get_cuda_rng_state",
    "get_default_dtype",
    "get_device",
    "get_rng_state",
    "grad",
    "group_norm",
    "half",
    "incubate",
    "inf",
    "install",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "inverse",
    "io",
    "is_available",
    "is_compiled_with_mps",
    "is_grad_enabled",
    "is_tensor",
    "jit",
    "layer_norm",
    "linalg",
    "linspace",
    "load",
    "long",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "mean",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "metric",
    "mps",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "nonzero",
    "normal",
    "normal_",
    "numel",
    "ones",
    "ones_like",
    "onnx",
    "optimizer",
    "permute",
    "pi",
    "pow",
    "pow_",
    "profiler",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "rank",
    "regularizer",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "reshape",
    "reshape_",
    "round",
    "save",
    "seed",
    "serve",
    "set_cuda_rng_state",
    "set_default_dtype",
    "set_device",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "shape",
    "short",
    "show_config",
    "sigmoid",
    "slice",
    "softmax",
    "special",
    "split",
    "squeeze",
    "squeeze_",
    "stack",
    "standard_normal",
    "static",
    "subtract",
    "subtract_",
    "sum",
    "t",
    "t_",
    "tensor",
    "tile",
    "to_dlpack",
    "to_tensor",
    "transpose",
    "transpose_",
    "triton_aot",
    "trunc",
    "trunc_",
    "uint8",
    "unbind",
    "uniform",
    "unsqueeze",
    "unsqueeze_",
    "utils",
    "version",
    "where",
    "zeros",
    "zeros_like",
]
__all__ += _ops.__all__ + _elementwise.__all__
__all__ += _diagonals.__all__ + _made.__all__ + _scatter.__all__ + _shapes.__all__
__all__ += (
    _einsum.__all__
    + _products.__all__
    + _parts.__all__
    + _statistics.__all__
    + _sorting.__all__
    + _special.__all__
    + _counting.__all__
)
__all__ += _flags.__all__ + _limits.__all__ + _platform.__all__ + _queries.__all__ + _typed.__all__
__all__ += _distributions.__all__ + _range.__all__

if _typing.TYPE_CHECKING:
    from . import io, onnx, profiler, serve, triton_aot  # imported when they are used: see _missing.LATE
    from .tensor import tensor
else:
    from . import tensor  # a module that can be called

_missing.explain(__name__)
_missing.keep_former_names(__name__)
