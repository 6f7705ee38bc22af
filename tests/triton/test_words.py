"""The map of words from Metal to CUDA, with which bench/triton_cuda.py compiles kernels for an NVIDIA GPU."""

from __future__ import annotations

import importlib
import pathlib
import re
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

words: Any = importlib.import_module("as_cuda.words")

GOLDENS = sorted((ROOT / "tritonlang" / "testdata").glob("*.metal"))


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_every_word_has_a_counterpart(path: pathlib.Path):
    source = path.read_text()
    text = words.cuda(source)
    metadata = words.metadata(source)
    declared = re.search(r'extern "C" __global__ void __launch_bounds__\((\d+)\) (\w+)\((.*?)\) \{', text, re.S)
    assert declared and declared[2] == metadata["name"] and int(declared[1]) == metadata["threads"]
    assert len(declared[3].split(",\n")) == len(metadata["args"])
    assert text.count("threadgroup_barrier(") == source.count("threadgroup_barrier(")
    assert ("__shared__ uint4" in text.replace("vec4<uint>", "uint4")) == (metadata["shared"] > 0)


def test_a_word_without_one_is_an_error():
    source = GOLDENS[0].read_text()
    with pytest.raises(ValueError, match="has no counterpart"):
        words.cuda(
            source.replace("uint lane [[", "texture2d<float> image [[texture(0)]],\n    uint lane [[").replace(
                "    int ", "    metal::int ", 1
            )
        )
    with pytest.raises(ValueError, match="no kernel"):
        words.cuda("// {}\nint x;\n")
