"""Over gRPC: health, metadata, configurations, the index, loads, the log."""

from __future__ import annotations

from collections.abc import Iterator

from case import Case, rpc
from tritonclient.grpc import service_pb2 as pb

MODELS = "type_fp32 type_uint32 type_uint64 half addsub fixed open wide reshaped labels versions optional priorities warm both größe".split()


def cases() -> Iterator[Case]:
    yield rpc("ServerLive", "ServerLive", pb.ServerLiveRequest())
    yield rpc("ServerReady", "ServerReady", pb.ServerReadyRequest())
    yield rpc("ServerMetadata", "ServerMetadata", pb.ServerMetadataRequest())
    for name in MODELS:
        yield rpc(f"ModelMetadata of {name}", "ModelMetadata", pb.ModelMetadataRequest(name=name))
        yield rpc(f"ModelConfig of {name}", "ModelConfig", pb.ModelConfigRequest(name=name))
        yield rpc(f"ModelReady of {name}", "ModelReady", pb.ModelReadyRequest(name=name))
    for method, message in {
        "ModelMetadata": pb.ModelMetadataRequest,
        "ModelConfig": pb.ModelConfigRequest,
        "ModelReady": pb.ModelReadyRequest,
        "ModelStatistics": pb.ModelStatisticsRequest,
    }.items():
        for name in ("none", "damaged", "..", "a" * 300, "", "TYPE_FP32"):
            if name or method != "ModelStatistics":
                yield rpc(f"{method} of {name[:10]!r}", method, message(name=name))
        for version in ("1", "7", "9", "0", "-1", "x", "1x", "01", " 1", "99999999999999999999"):
            if method != "ModelStatistics" or version not in ("1",):
                yield rpc(f"{method} of version {version!r}", method, message(name="versions", version=version))
    yield rpc("RepositoryIndex", "RepositoryIndex", pb.RepositoryIndexRequest())
    yield rpc("RepositoryIndex, ready", "RepositoryIndex", pb.RepositoryIndexRequest(ready=True))
    yield rpc("RepositoryIndex of a repository", "RepositoryIndex", pb.RepositoryIndexRequest(repository_name="some"))
    yield rpc(
        "RepositoryModelLoad of a repository",
        "RepositoryModelLoad",
        pb.RepositoryModelLoadRequest(repository_name="some", model_name="x"),
    )
    yield rpc(
        "RepositoryModelUnload of a repository",
        "RepositoryModelUnload",
        pb.RepositoryModelUnloadRequest(repository_name="some", model_name="x"),
    )
    yield rpc("CudaSharedMemoryStatus", "CudaSharedMemoryStatus", pb.CudaSharedMemoryStatusRequest())
    yield rpc(
        "CudaSharedMemoryStatus of a region", "CudaSharedMemoryStatus", pb.CudaSharedMemoryStatusRequest(name="none")
    )
    yield rpc(
        "CudaSharedMemoryRegister",
        "CudaSharedMemoryRegister",
        pb.CudaSharedMemoryRegisterRequest(name="a", raw_handle=b"x", byte_size=4),
    )
    yield rpc("CudaSharedMemoryUnregister", "CudaSharedMemoryUnregister", pb.CudaSharedMemoryUnregisterRequest())
