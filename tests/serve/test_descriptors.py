"""The .proto files of the project are equal on the wire to the descriptors of tritonclient."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from tritonclient.grpc import model_config_pb2, service_pb2

ROOT = Path(__file__).parents[2]
KINDS = {v: k[5:].lower() for k, v in descriptor_pb2.FieldDescriptorProto.Type.items()}


def theirs(module) -> dict[str, tuple[Any, ...]]:
    """Every field, value and method: its full name and what decides its form on the wire."""
    found: dict[str, tuple[Any, ...]] = {}

    def message(m, scope):
        name = f"{scope}{m.name}"
        for e in m.enum_type:
            enum(e, name + ".")
        entries = {n.name: n for n in m.nested_type if n.options.map_entry}
        for n in m.nested_type:
            if n.name not in entries:
                message(n, name + ".")
        for f in m.field:
            kind, repeated = kind_of(f), f.label == f.LABEL_REPEATED
            last = f.type_name.split(".")[-1]
            if last in entries and f.type == f.TYPE_MESSAGE:
                key, value = entries[last].field
                kind, repeated = f"map<{kind_of(key)},{kind_of(value)}>", False
            oneof = m.oneof_decl[f.oneof_index].name if f.HasField("oneof_index") else ""
            found[f"{name}.{f.name}"] = (f.number, kind, repeated, oneof)

    def enum(e, scope):
        for v in e.value:
            found[f"{scope}{e.name}.{v.name}"] = (v.number,)

    def kind_of(f):
        return f.type_name.split(".")[-1] if f.type in (f.TYPE_MESSAGE, f.TYPE_ENUM) else KINDS[f.type]

    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    for m in file.message_type:
        message(m, "")
    for e in file.enum_type:
        enum(e, "")
    for s in file.service:
        for r in s.method:
            ends = r.input_type.split(".")[-1], r.output_type.split(".")[-1]
            found[f"{s.name}/{r.name}"] = (*ends, r.client_streaming, r.server_streaming)
    return found


def ours(path: Path) -> dict[str, tuple[Any, ...]]:
    """The same of a .proto file, read line by line: the files have one declaration a line."""
    found: dict[str, tuple[Any, ...]] = {}
    scopes: list[tuple[str, str]] = []
    for line in path.read_text().splitlines():
        line = line.split("//")[0].strip()
        if opened := re.fullmatch(r"(message|enum|oneof|service) (\w+) \{(\})?", line):
            if not opened[3]:
                scopes.append((opened[1], opened[2]))
        elif line == "}":
            scopes.pop()
        elif rpc := re.fullmatch(r"rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\);", line):
            found[f"{scopes[-1][1]}/{rpc[1]}"] = (rpc[3], rpc[5], bool(rpc[2]), bool(rpc[4]))
        elif scopes and (value := re.fullmatch(r"(\w+) = (\d+);", line)):
            found[".".join(n for _, n in scopes) + "." + value[1]] = (int(value[2]),)
        elif scopes and (field := re.fullmatch(r"(repeated )?(map<.*>|[\w.]+) (\w+) = (\d+);", line)):
            kind = re.sub(r"[\w.]*\.(\w+)", r"\1", field[2]).replace(" ", "")
            oneof = scopes[-1][1] if scopes[-1][0] == "oneof" else ""
            name = ".".join(n for k, n in scopes if k != "oneof")
            found[f"{name}.{field[3]}"] = (int(field[4]), kind, bool(field[1]), oneof)
    return found


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("serve/modelconfig/model_config.proto", model_config_pb2),
        ("cmd/paddle-mps/internal/kserve/grpc_service.proto", service_pb2),
    ],
)
def test_same_on_the_wire(path, module):
    mine, want = ours(ROOT / path), theirs(module)
    assert len(want) > 80
    assert mine == want
