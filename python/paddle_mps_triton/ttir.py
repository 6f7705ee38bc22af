"""Triton IR of a kernel in a Python file, for `paddle-mps triton compile kernel.py`.

    python -m paddle_mps_triton.ttir kernel.py -n NAME -s "*fp32:16, i32, 1024" [-w WARPS]

prints it. The signature is that of triton.tools.compile: the type of each parameter, with `:16` where 16 divides the number
or the address, `:1` where it is 1, and the values of constants. Nothing is compiled further, and no device is needed.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.language import str_to_ty

from . import _options, compiler


def lower(
    kernel: Any,
    signature: Mapping[str, str],
    constants: Mapping[Any, Any],
    attributes: Mapping[Any, Any],
    options: Mapping[str, Any],
) -> str:
    """The Triton IR of a kernel for a signature, after the passes that each launch takes."""
    target = GPUTarget(_options.TARGET, "metal", _options.WARP)
    backend, context = compiler.MPSBackend(target), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    parsed = _options.parse(dict(options))
    source = triton.compiler.ASTSource(kernel, dict(signature), dict(constants), dict(attributes))
    module = source.make_ir(
        target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(), context
    )
    return str(compiler.ttir(module))


def constant(text: str) -> Any:
    """The value of a constant in a signature; None where the text is a type."""
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": ""}[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return None


def parse(kernel: Any, text: str) -> tuple[dict[str, str], dict[Any, Any], dict[Any, Any]]:
    """Types, constants and attributes of a signature.

    Raises:
        ValueError: it does not suit the kernel.
    """
    parts, names = [part.strip() for part in text.split(",")], kernel.arg_names
    if len(parts) != len(names):
        raise ValueError(f"the signature has {len(parts)} parts; want {len(names)}: {', '.join(names)}")
    signature: dict[str, str] = {}
    constants: dict[Any, Any] = {}
    attributes: dict[Any, Any] = {}
    for i, (name, part) in enumerate(zip(names, parts)):
        kind, _, hint = part.partition(":")
        value = constant(kind)
        if hint not in ("", "1", "16"):
            raise ValueError(f"{name} has the hint {hint!r}; want 1 or 16")
        if value is not None or hint == "1":
            signature[name], constants[(i,)] = "constexpr", 1 if hint == "1" else value
        else:
            try:
                str_to_ty(kind, None)
            except (LookupError, ValueError):
                raise ValueError(f"{name} has the type {kind!r}; want one such as *fp32 or i32") from None
            signature[name] = kind
        if hint == "16":
            attributes[(i,)] = [["tt.divisibility", 16]]
    return signature, constants, attributes


def load(path: pathlib.Path, name: str) -> Any:
    """The kernel of that name in a file, which is run.

    Raises:
        ValueError: the file has none.
    """
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Any = getattr(module, name, None)
    while hasattr(kernel, "fn") and not hasattr(kernel, "arg_names"):
        kernel = kernel.fn  # of autotune and heuristics
    if not isinstance(kernel, triton.JITFunction):
        raise ValueError(f"{path} has no kernel {name!r}; want a function with @triton.jit")
    return kernel


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="paddle_mps_triton.ttir", description="prints the Triton IR of a kernel")
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("-n", "--kernel-name", required=True)
    parser.add_argument("-s", "--signature", required=True)
    parser.add_argument("-w", "--num-warps", type=int, default=4)
    given = parser.parse_args(arguments)
    try:
        kernel = load(given.path, given.kernel_name)
        print(lower(kernel, *parse(kernel, given.signature), {"num_warps": given.num_warps}), end="")
    except (OSError, ValueError, SyntaxError) as error:
        print(f"{given.path}: {error}", file=sys.stderr)
        return 2
    except (triton.compiler.errors.CompilationError, NotImplementedError) as error:
        print(f"{given.path}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
