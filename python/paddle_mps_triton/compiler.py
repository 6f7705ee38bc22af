"""The back end that Triton finds: kernels to Triton IR by Triton's own passes, and to Metal by the library."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget

from . import _options


class MPSBackend(BaseBackend):
    """Compiles for the mps device of paddle-mps."""

    binary_ext = "metal"

    # Where an argument lies is asked of get_tensor_specialization, not of its data_ptr(), which waits for the GPU.
    supports_native_tensor_specialization = False

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == _options.TARGET)

    def hash(self) -> str:
        from . import _build

        return _build.key()

    def parse_options(self, given: dict[str, Any]) -> _options.Options:
        return _options.parse(given)

    def pack_metadata(self, metadata: Any) -> Any:
        return metadata

    def get_codegen_implementation(self, options: _options.Options) -> dict[str, Any]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        from . import _libdevice

        return {"triton.language.extra.libdevice": _libdevice}

    def load_dialects(self, context: Any) -> None:
        """Nothing beside what Triton loads itself."""

    def add_stages(self, stages: dict[str, Any], options: _options.Options, language: Any = None) -> None:
        """ttir: Triton IR; msl: the source of the shader; metal: the same with its metadata, as a file."""
        from . import _build

        stages["ttir"] = lambda module, metadata: ttir(module)
        stages["msl"] = lambda module, metadata: _build.msl(module, metadata, options)
        stages["metal"] = lambda source, metadata: _build.pack(source)

    @staticmethod
    def get_tensor_specialization(arg: Any, **flags: Any) -> str:
        from . import _arguments

        return "D" if flags.get("align") and _arguments.aligned(arg) else ""


def ttir(module: Any) -> Any:
    """Triton's own clean-up: calls are inlined, descriptors and block pointers become pointers and masks."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    for name in ("add_rewrite_tensor_pointer", "add_rewrite_tensor_descriptor_to_pointer"):
        if hasattr(passes.ttir, name):  # the first one is gone in 3.8
            getattr(passes.ttir, name)(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.ttir.add_triton_licm(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    manager.run(module, "make_ttir")
    return module
