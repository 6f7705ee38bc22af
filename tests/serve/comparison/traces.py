"""Settings of traces, which other requests must not see changed: the last ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from case import Case, get, post, rpc
from tritonclient.grpc import service_pb2 as pb


def cases() -> Iterator[Case]:
    path, model = "/v2/trace/setting", "/v2/models/type_fp32/trace/setting"
    yield get("trace settings", path)
    yield get("trace settings of a model", model)
    yield get("trace settings of no model", "/v2/models/none/trace/setting")
    bodies: dict[str, Any] = {
        "nothing": b"",
        "an object": {},
        "no JSON": b"{",
        "a level": {"trace_level": ["TIMESTAMPS"]},
        "a level as a text": {"trace_level": "TIMESTAMPS"},
        "an unknown level": {"trace_level": ["x"]},
        "no level": {"trace_level": ["OFF"]},
        "a rate": {"trace_rate": "2"},
        "a rate as a number": {"trace_rate": 2},
        "a rate that is no number": {"trace_rate": "x"},
        "a count": {"trace_count": "5"},
        "a count below 0": {"trace_count": "-2"},
        "a frequency": {"log_frequency": "3"},
        "a file": {"trace_file": "x"},
        "an unknown setting": {"x": "y"},
        "null": {"trace_rate": None},
    }
    for name, body in bodies.items():
        yield post(f"trace settings: {name}", path, body)
        yield post(f"trace settings of a model: {name}", model, body)
    value = pb.TraceSettingRequest.SettingValue
    settings = {
        "nothing": {},
        "a level": {"trace_level": value(value=["TIMESTAMPS"])},
        "an unknown level": {"trace_level": value(value=["x"])},
        "a rate": {"trace_rate": value(value=["2"])},
        "two rates": {"trace_rate": value(value=["2", "3"])},
        "a rate that is no number": {"trace_rate": value(value=["x"])},
        "cleared": {"trace_rate": value(), "trace_level": value()},
        "an unknown setting": {"x": value(value=["y"])},
    }
    for name, given in settings.items():
        for model_name in ("", "type_fp32", "none"):
            yield rpc(
                f"TraceSetting of {model_name!r}: {name}",
                "TraceSetting",
                pb.TraceSettingRequest(model_name=model_name, settings=given),
            )
