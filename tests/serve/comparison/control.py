"""Loads, unloads, the log and statistics: what the other requests must not see changed, last."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from case import Case, get, infer, post, rpc, tensor
from tritonclient.grpc import service_pb2 as pb

LOADS = """no_text unknown_field wrong_directory_name negative_batch zero_dims no_dims two_inputs no_datatype no_name wrong_reshape preferred_too_large
priority_too_large priority_of_queue default_priority_missing no_group_count group_with_gpus warmup_without_dims warmup_of_wrong_input
batch_too_large_for_warmup no_labels wrong_file_name wrong_backend signed wrong_type wrong_dims wrong_input_name format_without_dims ragged decoupled no_version
no_versions no_file damaged wrong_version operator scalar ensemble_circle ensemble_unknown ensemble_unused ensemble_unwritten ensemble_wrong_type
ensemble_no_steps none .. a%2Fb %2e %20 größe""".split()


def load(name: str, model: str, body: Any = b"") -> Case:
    return post(f"load: {name}", f"/v2/repository/models/{model}/load", body)


def unload(name: str, model: str, body: Any = b"") -> Case:
    return post(f"unload: {name}", f"/v2/repository/models/{model}/unload", body)


def cases(repository: Path) -> Iterator[Case]:
    yield from statistics()
    yield from log()
    for model in LOADS:
        model = model.replace("ö", "%C3%B6").replace("ß", "%C3%9F")
        yield load(model, model)
    yield post("index after loads", "/v2/repository/index", {})
    yield get("ready after loads", "/v2/health/ready")
    for model in ("no_text", "damaged", "zero_dims", "none", "ensemble_unused", ""):
        yield rpc(
            f"RepositoryModelLoad of {model!r}", "RepositoryModelLoad", pb.RepositoryModelLoadRequest(model_name=model)
        )
        yield rpc(
            f"RepositoryModelUnload of {model!r}",
            "RepositoryModelUnload",
            pb.RepositoryModelUnloadRequest(model_name=model),
        )
    yield from bodies()
    yield from overrides(repository)
    yield from dependents()


def statistics() -> Iterator[Case]:
    """Counts of a model that nothing else asks."""
    path = "/v2/models/counted/stats"
    yield get("statistics: nothing", path)
    for name, batch in {"one": 1, "another": 1, "three": 3, "eight": 8}.items():
        yield infer(f"statistics: {name}", "counted", tensor(datatype="INT64", shape=(batch, 2), data=[1, 2] * batch))
    yield get("statistics: successes", path)
    yield infer("statistics: an index out of range", "counted", tensor(datatype="INT64", shape=(1, 2), data=[9, 2]))
    yield get("statistics: a failed execution", path)
    yield infer("statistics: a batch too large", "counted", tensor(datatype="INT64", shape=(9, 2), data=[1, 2] * 9))
    yield infer("statistics: a wrong name", "counted", tensor("z", "INT64", (1, 2), [1, 2]))
    yield post("statistics: no JSON", "/v2/models/counted/infer", b"{")
    yield get("statistics: refused requests", path)
    yield rpc("ModelStatistics", "ModelStatistics", pb.ModelStatisticsRequest(name="counted"))
    yield rpc("ModelStatistics of a version", "ModelStatistics", pb.ModelStatisticsRequest(name="counted", version="1"))
    yield get("statistics: a version", "/v2/models/counted/versions/1/stats")


def log() -> Iterator[Case]:
    path = "/v2/logging"
    bodies: dict[str, Any] = {
        "nothing": b"",
        "an object": {},
        "a level": {"log_verbose_level": 1},
        "a level of 0": {"log_verbose_level": 0},
        "a level below 0": {"log_verbose_level": -1},
        "a level as a text": {"log_verbose_level": "1"},
        "a level as a fraction": {"log_verbose_level": 1.5},
        "a level of 2^32": {"log_verbose_level": 2**32},
        "a level of 0 again": {"log_verbose_level": 0},
        "no infos": {"log_info": False},
        "infos": {"log_info": True},
        "infos as a number": {"log_info": 1},
        "infos as a text": {"log_info": "false"},
        "warnings": {"log_warning": True, "log_error": True},
        "warnings null": {"log_warning": None},
        "a format": {"log_format": "ISO8601"},
        "the usual format": {"log_format": "default"},
        "an unknown format": {"log_format": "x"},
        "a format as a number": {"log_format": 1},
        "an empty format": {"log_format": ""},
        "a file": {"log_file": "x"},
        "an empty file": {"log_file": ""},
        "an unknown setting": {"log_x": 1},
        "a setting and an unknown one": {"log_error": False, "log_x": 1},
        "an unknown one first": {"log_x": 1, "log_warning": False},
        "a list": [],
        "no JSON": b"{",
        "null": b"null",
    }
    for name, body in bodies.items():
        yield post(f"log: {name}", path, body)
    yield get("log", path)
    value = pb.LogSettingsRequest.SettingValue
    settings = {
        "nothing": {},
        "a level": {"log_verbose_level": value(uint32_param=2)},
        "a level as a text": {"log_verbose_level": value(string_param="1")},
        "a level as true": {"log_verbose_level": value(bool_param=True)},
        "no infos": {"log_info": value(bool_param=False)},
        "infos as a number": {"log_info": value(uint32_param=1)},
        "infos as a text": {"log_info": value(string_param="false")},
        "a format": {"log_format": value(string_param="ISO8601")},
        "an unknown format": {"log_format": value(string_param="x")},
        "a format as true": {"log_format": value(bool_param=True)},
        "a file": {"log_file": value(string_param="x")},
        "a file as a number": {"log_file": value(uint32_param=1)},
        "an unknown setting": {"log_x": value(uint32_param=1)},
        "no value": {"log_info": value()},
        "all again": {
            "log_verbose_level": value(uint32_param=0),
            "log_info": value(bool_param=True),
            "log_error": value(bool_param=True),
            "log_warning": value(bool_param=True),
            "log_format": value(string_param="default"),
        },
    }
    for name, given in settings.items():
        yield rpc(f"LogSettings: {name}", "LogSettings", pb.LogSettingsRequest(settings=given))


def bodies() -> Iterator[Case]:
    """Bodies of loads and unloads."""
    for name, body in {
        "an object": {},
        "no parameters": {"parameters": {}},
        "parameters null": {"parameters": None},
        "parameters a list": {"parameters": []},
        "an unknown parameter": {"parameters": {"x": "y"}},
        "a number": {"parameters": {"x": 1}},
        "config a number": {"parameters": {"config": 1}},
        "config null": {"parameters": {"config": None}},
        "config an object": {"parameters": {"config": {}}},
        "no JSON": b"{",
        "a list": [],
        "another member": {"x": 1},
        "spaces": b"  ",
        "unload_dependents": {"parameters": {"unload_dependents": True}},
    }.items():
        yield load(f"body is {name}", "versions", body)
    for name, body in {
        "an object": {},
        "no parameters": {"parameters": {}},
        "parameters null": {"parameters": None},
        "parameters a list": {"parameters": []},
        "an unknown parameter": {"parameters": {"x": "y"}},
        "unload_dependents a number": {"parameters": {"unload_dependents": 1}},
        "unload_dependents a text": {"parameters": {"unload_dependents": "true"}},
        "unload_dependents null": {"parameters": {"unload_dependents": None}},
        "no JSON": b"{",
        "a list": [],
    }.items():
        yield unload(f"body is {name}", "type_bool", body)
    for name in ("none", "..", "damaged", "a%2Fb"):
        yield unload(name, name)
    yield get("an unloaded model", "/v2/models/type_bool")
    yield get("an unloaded model, ready", "/v2/models/type_bool/ready")
    yield get("an unloaded model, statistics", "/v2/models/type_bool/stats")
    yield infer("an inference of an unloaded model", "type_bool", tensor(datatype="BOOL", data=[True] * 4))
    yield unload("twice", "type_bool")
    yield load("after an unload", "type_bool")
    yield infer("a model that is loaded again", "type_bool", tensor(datatype="BOOL", data=[True] * 4))
    yield get("a model that is loaded again, statistics", "/v2/models/type_bool/stats")
    value = pb.ModelRepositoryParameter
    for name, given in {
        "unload_dependents": {"unload_dependents": value(bool_param=False)},
        "unload_dependents a text": {"unload_dependents": value(string_param="true")},
        "unknown": {"x": value(string_param="y")},
        "nothing": {"unload_dependents": value()},
    }.items():
        yield rpc(
            f"RepositoryModelUnload: {name}",
            "RepositoryModelUnload",
            pb.RepositoryModelUnloadRequest(model_name="type_int8", parameters=given),
        )
    for name, given in {
        "a number": {"config": value(int64_param=1)},
        "bytes": {"config": value(bytes_param=b"{}")},
        "a file as a text": {"file:1/model.onnx": value(string_param="x")},
        "a file without a configuration": {"file:1/model.onnx": value(bytes_param=b"x")},
        "unknown": {"x": value(string_param="y")},
        "unknown true": {"x": value(bool_param=True)},
        "nothing": {"config": value()},
        "no JSON": {"config": value(string_param="{")},
        "empty": {"config": value(string_param="")},
    }.items():
        yield rpc(
            f"RepositoryModelLoad: {name}",
            "RepositoryModelLoad",
            pb.RepositoryModelLoadRequest(model_name="type_int16", parameters=given),
        )


def overrides(repository: Path) -> Iterator[Case]:
    """Configurations and files in the request."""
    file = base64.b64encode((repository / "fixed" / "1" / "model.onnx").read_bytes()).decode()
    base = {"backend": "metal_mps", "instance_group": [{"kind": "KIND_CPU"}]}
    good = {**base, "max_batch_size": 0}

    def given(config: Any) -> Any:
        return {"parameters": {"config": config if isinstance(config, str) else json.dumps(config)}}

    for name, config in {
        "a larger batch": {"name": "type_int32", **base, "max_batch_size": 16},
        "another name": {"name": "x", **base},
        "no name": {**base, "max_batch_size": 2},
        "empty": "",
        "an empty object": {},
        "no JSON": "{",
        "a list": "[]",
        "null": "null",
        "an unknown field": {**base, "frobnicate": 1},
        "a wrong type": {**base, "max_batch_size": "x"},
        "a number as a text": {**base, "max_batch_size": "8"},
        "camel case": {**base, "maxBatchSize": 3},
        "a negative batch": {**base, "max_batch_size": -1},
        "an unknown backend": {"backend": "none"},
        "an unknown version": {**base, "version_policy": {"specific": {"versions": [9]}}},
        "an enum as a number": {**base, "instance_group": [{"kind": 2}]},
        "two instances": {**base, "instance_group": [{"kind": "KIND_CPU", "count": 2}]},
        "text of protobuf": 'backend: "metal_mps"',
    }.items():
        yield load(f"config with {name}", "type_int32", given(config))
        yield get(f"config with {name}, afterwards", "/v2/models/type_int32/config")
    yield load("no override", "type_int32")
    yield get("no override, the config", "/v2/models/type_int32/config")
    yield unload("an override", "type_int32")
    yield load("after an override", "type_int32")
    yield get("after an override, the config", "/v2/models/type_int32/config")
    for i, (name, (model, body)) in enumerate(
        {
            "a file": ("new", {"parameters": {"config": json.dumps(good), "file:1/model.onnx": file}}),
            "a file of another version": (
                "new",
                {"parameters": {"config": json.dumps(good), "file:5/model.onnx": file}},
            ),
            "two versions": (
                "new",
                {
                    "parameters": {
                        "config": json.dumps({**good, "version_policy": {"all": {}}}),
                        "file:1/model.onnx": file,
                        "file:2/model.onnx": file,
                    }
                },
            ),
            "a file of another name": ("new", {"parameters": {"config": json.dumps(good), "file:1/other.onnx": file}}),
            "a file without a version": ("new", {"parameters": {"config": json.dumps(good), "file:model.onnx": file}}),
            "a file and no configuration": ("new", {"parameters": {"file:1/model.onnx": file}}),
            "a file that is no base64": (
                "new",
                {"parameters": {"config": json.dumps(good), "file:1/model.onnx": "!!!"}},
            ),
            "a file that is no model": (
                "new",
                {"parameters": {"config": json.dumps(good), "file:1/model.onnx": "AAAA"}},
            ),
            "an empty file": ("new", {"parameters": {"config": json.dumps(good), "file:1/model.onnx": ""}}),
            "a file without a path": ("new", {"parameters": {"config": json.dumps(good), "file:": file}}),
            "a file out of the folder": (
                "new",
                {"parameters": {"config": json.dumps(good), "file:../x/model.onnx": file}},
            ),
            "a file at the root": ("new", {"parameters": {"config": json.dumps(good), "file:/var/model.onnx": file}}),
            "a file in place of a model": (
                "type_fp64",
                {"parameters": {"config": json.dumps(good), "file:1/model.onnx": file}},
            ),
        }.items()
    ):
        # A model of its own for each: tritonserver 2.51 does not load one again for a file of the request.
        named = model if model != "new" else f"new{i}"
        yield load(name, named, body)
        yield get(f"{name}, the metadata", f"/v2/models/{named}")
    yield infer("a model of a file in the request", "type_fp64", tensor(shape=(2, 3), data=[1, 2, 3, 4, 5, 6]))
    yield load("the file of the repository again", "type_fp64")
    yield get("the file of the repository again, the metadata", "/v2/models/type_fp64")
    yield load(
        "another file for a model", "new0", {"parameters": {"config": json.dumps(good), "file:1/model.onnx": "AAAA"}}
    )
    yield unload("a model of a file", "new0")
    yield load("a model of a file that is gone", "new0")


def dependents() -> Iterator[Case]:
    yield unload("a part of an ensemble", "queued")
    yield infer("an ensemble without a part", "both", tensor())
    yield get("an ensemble without a part, ready", "/v2/models/both/ready")
    yield load("the part again", "queued")
    yield infer("an ensemble with its part", "both", tensor())
    yield unload("an ensemble with its dependents", "both", {"parameters": {"unload_dependents": True}})
    yield get("the part of an unloaded ensemble", "/v2/models/labels/ready")
    yield load("an ensemble again", "both")
    yield infer("an ensemble again", "both", tensor())
    yield post("index at the end", "/v2/repository/index", {})
    yield post("index of what is ready, at the end", "/v2/repository/index", {"ready": True})
