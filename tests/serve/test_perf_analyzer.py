"""perf_analyzer, where it is installed or PERF_ANALYZER names it, drives the server as it does tritonserver.

docs/serving.md says where there is one.
"""

from __future__ import annotations

import csv
import json
import os
import pathlib
import shutil
import subprocess

import models
import pytest
import running
import test_models

PROGRAM = shutil.which(os.environ.get("PERF_ANALYZER") or "perf_analyzer") or ""


@pytest.mark.skipif(not PROGRAM, reason="there is no perf_analyzer")
@pytest.mark.parametrize(
    ("protocol", "operator", "options"),
    [
        ("http", "Neg", ["-b", "4"]),
        ("http", "Neg", ["--shared-memory=system", "--output-shared-memory-size=1024"]),
        ("grpc", "Neg", ["--async", "--concurrency-range=4"]),
        ("grpc", "Neg", ["--streaming"]),
        ("http", "strings", ["--string-length=20", "-b", "4"]),
        ("http", "strings", ["--input-tensor-format=json", "--output-tensor-format=json"]),
        ("http", "strings", ["--shared-memory=system", "--output-shared-memory-size=1024"]),
        ("grpc", "strings", ["--string-data=hello", "--async", "--concurrency-range=4"]),
        ("grpc", "strings", ["--streaming"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_rate(tmp_path: pathlib.Path, protocol: str, operator: str, options: list[str]) -> None:
    if operator == "strings":
        models.unary(tmp_path / "models" / "m", "Identity", models.TensorProto.STRING)
    else:
        models.unary(tmp_path / "models" / "m", operator)
    table = tmp_path / "table.csv"
    with running.serving(str(tmp_path / "models"), "--allow-client-shm=true") as server:
        # Windows of half a second, none of which has to be like another: this is no measurement.
        line = [PROGRAM, "-m", "m", "-i", protocol, "-u", getattr(server, protocol), "-p500", "-s999", "--max-trials=4"]
        done = subprocess.run([*line, *options, "-f", str(table)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        stats = json.loads(test_models.fetch(server.http, "/v2/models/m/stats")[1])["model_stats"][0]
    with table.open() as file:
        (row,) = csv.DictReader(file)
    assert float(row["Inferences/Second"]) > 0
    assert stats["inference_stats"]["success"]["count"] > 0
    assert stats["inference_stats"]["fail"]["count"] == 0
