"""Prints how many of PaddlePaddle's public names paddle_mps has, by tier and by namespace.

    coverage.py          the table, and the names of tier 1 that are missing
    coverage.py --all    the missing names of every tier

Exits 1 if a name of tier 1 is missing without a reason, or there in spite of one: see `REASONS`.

surface_3_3_1.json has the names. The second percentage counts each name as often as the files of uses.tsv use it.
A tier is that of the rule in python/paddle_mps/_missing.py that speaks of the name.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import surface

USES = pathlib.Path(__file__).with_name("uses.tsv")
TIERS = {
    1: "tier 1, tensors",
    2: "tier 2, networks with gradients",
    3: "tier 3, training",
    -1: "named otherwise",
    0: "out of scope",
}

# Tiers of names that exist, where the rule for the missing names of their namespace says another one.
EXISTING = {
    (
        1,
        "paddle.nn.functional",
    ): """pad one_hot normalize log_softmax linear cosine_similarity celu elu elu_ gelu glu hardshrink
        hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ log_sigmoid logsigmoid maxout mish prelu relu relu6
        relu_ rrelu selu sigmoid silu softmax softmax_ softplus softshrink softsign swiglu swish tanh tanh_ tanhshrink
        thresholded_relu thresholded_relu_""",
    (3, "paddle"): "LazyGuard ParamAttr create_parameter io metric optimizer regularizer",
    (2, "paddle"): "adaptive_avg_pool1d conv1d conv2d conv3d group_norm layer_norm",
    (
        0,
        "paddle.Tensor",
    ): "is_dense is_selected_rows is_sparse is_sparse_coo is_sparse_csr is_dist is_same_shape layout",
    (-1, "paddle.Tensor"): "is_cuda get_device",
    (-1, "paddle.device"): "get_cudnn_version is_current_stream_capturing",
    (0, "paddle.device"): "IPUPlace XPUPlace",
}


def tier_of(rule: Any, namespace: str, name: str) -> int:
    """The tier of a name, where rule is that of `_missing`."""
    for (tier, where), names in EXISTING.items():
        if where == namespace and name in names.split():
            return tier
    return int(rule(namespace, name).tier)


# Names of tier 1 that cannot be given, by their dotted names, each with the reason. A name that is only not done yet has
# none. All of tier 1 can be given so far.
REASONS: dict[str, str] = {}


@dataclass
class Count:
    """Names of one tier or namespace. Uses are those that uses.tsv has of them."""

    missing: list[str] = field(default_factory=list)
    names: int = 0
    uses: int = 0
    covered: int = 0

    def add(self, path: str, present: bool, uses: int) -> None:
        self.names += 1
        self.uses += uses
        if present:
            self.covered += uses
        else:
            self.missing.append(path)

    def row(self, title: str) -> str:
        there = self.names - len(self.missing)
        weighted = f"{100 * self.covered / self.uses:4.0f} % of {self.uses} uses" if self.uses else ""
        return f"{title:32s} {there:4d} of {self.names:4d} {100 * there / self.names:4.0f} %  {weighted}".rstrip()


def read_uses() -> dict[str, int]:
    """How often each name is used, by its dotted name."""
    rows = (line.split("\t") for line in USES.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: int(uses) for name, _, uses in rows}


def owner(package: str, namespace: str) -> Any:
    """What stands for a namespace of Paddle in a package; None if nothing does."""
    path = package + namespace[len("paddle") :]
    if namespace == "paddle.Tensor":
        return importlib.import_module(package).Tensor
    try:
        return importlib.import_module(path)
    except ImportError:
        return None


def count(package: str) -> tuple[dict[int, Count], dict[str, Count]]:
    """What a package has, by tier and by namespace."""
    rule = importlib.import_module("paddle_mps._missing").rule
    uses = read_uses()
    tiers: dict[int, Count] = defaultdict(Count)
    namespaces: dict[str, Count] = defaultdict(Count)
    for namespace, names in surface.read().items():
        found = owner(package, namespace)
        for name in names:
            path = f"{namespace}.{name}"
            present = found is not None and hasattr(found, name)
            for total in (tiers[tier_of(rule, namespace, name)], namespaces[namespace]):
                total.add(path, present, uses.get(path, 0))
    return tiers, namespaces


def show(title: str, missing: list[str]) -> None:
    print(f"\nMissing of {title}: {len(missing)}")
    print(textwrap.fill(" ".join(missing), 118, break_long_words=False, break_on_hyphens=False))


def complaints(tier: Count, reasons: dict[str, str]) -> list[str]:
    """What is wrong with tier 1, a line each: names that are missing, and reasons of names that are not."""
    unexplained = [path for path in tier.missing if path not in reasons]
    stale = [path for path in reasons if path not in tier.missing]
    lines = []
    if unexplained:
        lines.append(f"{len(unexplained)} of {tier.names} names of tier 1 are missing without a reason")
    if stale:
        lines.append(f"reasons for names that are not missing from tier 1: {' '.join(stale)}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    tiers, namespaces = count("paddle_mps")
    print(f"Public names of PaddlePaddle {surface.VERSION} that paddle_mps has:\n")
    for tier, title in TIERS.items():
        print(tiers[tier].row(title))
    print()
    for namespace, total in namespaces.items():
        print(total.row(namespace))
    for tier, title in TIERS.items():
        if options.all or tier == 1:
            show(title, [path for path in tiers[tier].missing if path not in REASONS])
    print(f"\nCannot be given, of tier 1: {len(REASONS)}")
    for path, reason in REASONS.items():
        print(f"{path}: {reason}")
    failures = complaints(tiers[1], REASONS)
    for line in failures:
        print(f"FAIL {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
