"""What onnxruntime says about a model: its inputs and outputs, and what its file says of itself."""

from __future__ import annotations

from typing import Any

from ._types import tensor_type


class NodeArg:
    """An input or an output of a model.

    Attributes:
        name: what the file calls it.
        type: such as `tensor(float)`.
        shape: a size, the name of a size or None for each dimension; empty also where the file says nothing of them, and for
            sequences.
    """

    def __init__(self, name: str, type: str, shape: list[Any], ranked: bool) -> None:
        self.name, self.type, self.shape, self._ranked = name, type, shape, ranked

    def __str__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class ModelMetadata:
    """What the file says of its model.

    Attributes:
        custom_metadata_map: the texts that the exporter has added.
        description, domain, graph_description, graph_name, producer_name: texts; empty where the file has none.
        version: the version of the model.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        self.custom_metadata_map: dict[str, str] = said["metadata"]
        self.description: str = said["description"]
        self.domain: str = said["domain"]
        self.graph_description: str = said["graph_description"]
        self.graph_name: str = said["graph_name"]
        self.producer_name: str = said["producer_name"]
        self.version: int = said["model_version"]


def ports(said: list[dict[str, Any]], sizes: dict[str, int]) -> list[NodeArg]:
    """Inputs or outputs, with sizes for names of dimensions."""
    found = []
    for p in said:
        shape = None if p.get("sequence") else p["shape"]
        found.append(NodeArg(p["name"], _type(p), [sizes.get(d, d) for d in shape or []], shape is not None))
    return found


def _type(port: dict[str, Any]) -> str:
    """The type of a port, as onnxruntime writes it."""
    text = tensor_type(port["elem"])
    if port.get("sequence"):
        text = f"seq({text})"
    return f"optional({text})" if port.get("optional") else text
