"""Names of libdevice's functions, as Triton's own declarations for CUDA have them: the library maps them to Metal's."""

from triton.language.extra.cuda.libdevice import *  # noqa: F403
