"""Matrices with infinities and nan: every function of matrices answers or refuses. LAPACK has loops that never end for some."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

# Each line of the child is a case that it begins. It dies by SIGXCPU in one that takes more than GUARD seconds of
# its processor: no signal handler of Python runs while LAPACK does.
GUARD = 20
CHILD = """
import json, resource, sys, warnings
import numpy as np
import paddle_mps as paddle
warnings.simplefilter("ignore")
calls, matrices, guard = json.loads(sys.stdin.read())
L, T, inf, nan = paddle.linalg, paddle.to_tensor, np.inf, np.nan
for call in calls:
    for i, text in enumerate(matrices):
        a = np.array(eval(text), call.partition(" ")[0])
        x = T(a)
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + guard, resource.RLIM_INFINITY))
        print(json.dumps([call, i]), end="\\t", flush=True)
        try:
            made = eval(call.partition(" ")[2])
            said = "answered"
        except (ValueError, AssertionError) as error:
            said = "refused" if str(error).startswith("[") else "without an operator: " + str(error)
        print(said, flush=True)
"""
CALLS = [
    "L.svd(x)", "L.svd(x, full_matrices=True)", "L.svdvals(x)", "L.pinv(x)", "L.pinv(x, hermitian=True)",
    "L.matrix_rank(x)", "L.matrix_rank(x, tol=0.1)", "L.matrix_rank(x, hermitian=True)", "L.cond(x)", "L.cond(x, -2)",
    "L.cond(x, 'nuc')", "L.cond(x, 1)", "L.norm(x, 'nuc')", "L.norm(x, 'fro')", "L.matrix_norm(x, 2)", "L.matrix_norm(x, -2)",
    "L.lstsq(x, x)", "L.eig(x)", "L.eigvals(x)", "L.eigh(x)", "L.eigvalsh(x)", "L.svd_lowrank(x, 2)", "L.pca_lowrank(x, 2)",
    "L.det(x)", "L.slogdet(x)", "L.inv(x)", "L.solve(x, x)", "L.qr(x)", "L.cholesky(x)", "L.lu(x)", "L.matrix_exp(x)",
    "L.matrix_power(x, -3)", "L.matrix_power(x, 3)", "L.triangular_solve(x, x)", "L.cholesky_solve(x, x)",
    "L.cholesky_inverse(x)", "L.householder_product(x, x[0])", "L.ormqr(x, x[0], x)", "L.cov(x)", "L.corrcoef(x)",
    "L.multi_dot([x, x, x])", "paddle.cdist(x, x)",
]  # fmt: skip
# The first hangs LAPACK in svd; then each place of a not finite element, symmetric ones, all of them, and numbers whose
# squares overflow.
HANGS = "[[inf, 1.58, 1.5, -.5], [-2, 1e30, 5.1, -2.5], [-inf, -3, 2.2, .15], [-1.8, -2.4, 1.5, 1]]"
MATRICES = [
    HANGS,
    "[[1e38, -1e38, 1], [1e38, 1e-38, 2], [3, 1e38, -1e38]]",
    "np.full((3, 3), nan)",
    "np.full((3, 3), inf)",
]
MATRICES += [
    f"[[1, {v}, 3], [{w}, 5, 6], [2, 8, {v}]]"
    for v, w in itertools.product(("inf", "-inf", "nan"), ("4", "inf", "nan"))
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_function_of_matrices_ends(dtype: str) -> None:
    calls = [f"{dtype} {call}" for call in CALLS]
    given = json.dumps([calls, MATRICES, GUARD])
    done = subprocess.run([sys.executable, "-c", CHILD], input=given, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]}: {done.stderr[-2000:]}"
    said = {}
    for line in lines:
        case, _, verdict = line.partition("\t")
        said[tuple(json.loads(case))] = verdict
    assert len(said) == len(CALLS) * len(MATRICES)
    assert {k: v for k, v in said.items() if v not in ("answered", "refused")} == {}
    needs_finite = [
        call for call in calls if any(f" {name}(x" in call for name in ("L.svd", "L.eigh", "L.eig", "L.pinv"))
    ]
    assert {said[call, 0] for call in needs_finite} == {"refused"}, "not finite"
    assert said[f"{dtype} L.svd(x)", 1] == "answered", "large, and finite"
