"""A server that loads what it finds and restricts some of its paths, and one that completes no configurations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import model_files
import models
from case import Case, get, infer, post, rpc, tensor
from tritonclient.grpc import service_pb2 as pb

OPTIONS = [
    "--model-control-mode=none",
    "--exit-on-error=false",
    "--strict-readiness=true",
    "--http-restricted-api=model-repository,logging:key=value",
    "--http-restricted-api=statistics:other=1",
    "--grpc-restricted-protocol=model-repository,logging:key=value",
    "--grpc-restricted-protocol=statistics:other=1",
]

WHOLE = ["--model-control-mode=explicit", "--disable-auto-complete-config", "--model-config-name=large"]


def cases(_: Path) -> Iterator[Case]:
    """Models that cannot load are in the repository, so that the server is not ready."""
    yield get("none: live", "/v2/health/live")
    yield get("none: ready", "/v2/health/ready")
    yield rpc("none: ServerReady", "ServerReady", pb.ServerReadyRequest())
    yield rpc("none: health", "Check", b"", service="grpc.health.v1.Health")
    yield infer("none: infer", "type_fp32", tensor())
    yield get("none: a model that did not load", "/v2/models/damaged/ready")
    yield get("none: config of a model that did not load", "/v2/models/damaged/config")
    for name, headers in {
        "no header": [],
        "the header": [("key", "value")],
        "a wrong value": [("key", "Value")],
        "the other header": [("other", "1")],
        "the header in capitals": [("KEY", "value")],
    }.items():
        yield post(f"restricted: index, {name}", "/v2/repository/index", {}, *headers)
        yield get(f"restricted: log, {name}", "/v2/logging", *headers)
        yield get(f"restricted: statistics, {name}", "/v2/models/versions/stats", *headers)
        yield post(f"restricted: load, {name}", "/v2/repository/models/type_fp32/load", b"", *headers)
        yield post(f"restricted: unload, {name}", "/v2/repository/models/type_fp32/unload", b"", *headers)
        metadata = [(f"triton-grpc-protocol-{k.lower()}", v) for k, v in headers]
        yield rpc(
            f"restricted: RepositoryIndex, {name}",
            "RepositoryIndex",
            pb.RepositoryIndexRequest(ready=True),
            metadata=metadata,
        )
        yield rpc(f"restricted: LogSettings, {name}", "LogSettings", pb.LogSettingsRequest(), metadata=metadata)
        yield rpc(
            f"restricted: ModelStatistics, {name}",
            "ModelStatistics",
            pb.ModelStatisticsRequest(name="versions"),
            metadata=metadata,
        )
        yield rpc(
            f"restricted: RepositoryModelLoad, {name}",
            "RepositoryModelLoad",
            pb.RepositoryModelLoadRequest(model_name="type_fp32"),
            metadata=metadata,
        )
        yield rpc(
            f"restricted: RepositoryModelUnload, {name}",
            "RepositoryModelUnload",
            pb.RepositoryModelUnloadRequest(model_name="type_fp32"),
            metadata=metadata,
        )
    yield post("restricted: a wrong method", "/v2/models/versions/stats", b"")
    yield get("restricted: what is not", "/v2/models/versions/config")


def whole(folder: Path) -> Iterator[Case]:
    """Configurations that are not completed, some of them under a name."""
    io = model_files.XY
    named = model_files.MPS + "max_batch_size: 7 " + io
    for name, config in {
        "default": model_files.MPS + "max_batch_size: 1 " + io,
        "both": model_files.MPS + "max_batch_size: 1 " + io,
        "named": "",
        "damaged_name": model_files.MPS + "max_batch_size: 1 " + io,
        "a_folder": model_files.MPS + "max_batch_size: 1 " + io,
        "no_input": model_files.MPS + "max_batch_size: 1 " + io[io.index("output") :],
        "no_output": model_files.MPS + "max_batch_size: 1 " + io[: io.index("output")],
        "no_batch": model_files.MPS + io,
        "nothing": model_files.MPS,
        "batching": model_files.MPS + "max_batch_size: 3 dynamic_batching { } " + io,
        "no_config": "",
    }.items():
        models.unary(folder / f"whole_{name}", "Neg", config=config)
    for name, config in {"both": named, "named": named, "damaged_name": "nonsense"}.items():
        (folder / f"whole_{name}" / "configs").mkdir()
        (folder / f"whole_{name}" / "configs" / "large.pbtxt").write_text(config)
    (folder / "whole_a_folder" / "configs" / "large.pbtxt").mkdir(parents=True)
    for name in (
        "default",
        "both",
        "named",
        "damaged_name",
        "no_input",
        "no_output",
        "no_batch",
        "nothing",
        "batching",
    ):
        yield post(f"whole: load {name}", f"/v2/repository/models/whole_{name}/load", {})
        yield get(f"whole: config of {name}", f"/v2/models/whole_{name}/config")
        yield infer(f"whole: infer {name}", f"whole_{name}", tensor())
    yield post("whole: load no_config", "/v2/repository/models/whole_no_config/load", {})
    config = '{"backend": "metal_mps", "instance_group": [{"kind": "KIND_CPU"}]}'
    yield post(
        "whole: load with a config without inputs",
        "/v2/repository/models/whole_no_config/load",
        {"parameters": {"config": config}},
    )
    yield post("whole: index", "/v2/repository/index", {"ready": True})
    yield post(
        "whole: load, a folder in place of the file", "/v2/repository/models/whole_a_folder/load", {}, dies="SIGABRT"
    )
