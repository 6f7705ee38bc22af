"""examples/fleet/kubernetes/kserve.yaml in the types of the package kserve, in which each field has to exist, and its line.

tests/manifests does so with the types of Kubernetes.
"""

from __future__ import annotations

import importlib.metadata
import pathlib
import re
import sys
import types
from collections.abc import Callable
from typing import Any

import models
import pytest
import running
import test_models
import yaml

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "fleet" / "kubernetes"


@pytest.fixture(scope="module")
def kinds() -> Callable[[str], Any]:
    """The types of KServe and of Kubernetes, by name."""
    # The package itself imports a web server and clouds: its types are in a package below it, which needs none of them.
    package = types.ModuleType("kserve")
    package.__path__ = [str(importlib.metadata.distribution("kserve").locate_file("kserve"))]
    sys.modules.setdefault("kserve", package)
    import kserve.models
    import kubernetes.client

    return lambda name: getattr(kserve.models, name, None) or getattr(kubernetes.client, name)


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / "kserve.yaml").read_text(encoding="utf-8")))


def read(value: Any, kind: str, kinds: Callable[[str], Any], path: str) -> Any:
    """A value as one of a type; an error where it is none, or has a field that the type has not."""
    if match := re.fullmatch(r"[lL]ist\[(.*)\]", kind):
        assert isinstance(value, list), f"{path} is no list"
        return [read(v, match[1], kinds, f"{path}[{i}]") for i, v in enumerate(value)]
    if match := re.fullmatch(r"[dD]ict[(\[]str, (.*)[)\]]", kind):
        assert isinstance(value, dict), f"{path} is no map"
        return {k: read(v, match[1], kinds, f"{path}.{k}") for k, v in value.items()}
    plain = {"str": str, "int": int, "bool": bool, "object": object, "ResourceQuantity": str}.get(kind)
    if plain is not None:
        assert isinstance(value, plain) and (plain is not int or not isinstance(value, bool)), f"{path} is no {kind}"
        return value
    made = kinds(kind)
    assert isinstance(value, dict), f"{path} is no {kind}"
    names = {theirs: ours for ours, theirs in made.attribute_map.items()}
    unknown = set(value) - set(names)
    assert not unknown, f"{kind} at {path} has no {unknown}"
    # The constructor refuses a type without the fields that it needs.
    return made(**{names[k]: read(v, made.openapi_types[names[k]], kinds, f"{path}.{k}") for k, v in value.items()})


def test_kserve(kinds, documents):
    runtime = read(documents[0], "V1alpha1ServingRuntime", kinds, "runtime")
    service = read(documents[1], "V1beta1InferenceService", kinds, "service")
    assert (runtime.api_version, runtime.kind) == ("serving.kserve.io/v1alpha1", "ServingRuntime")
    assert (service.api_version, service.kind) == ("serving.kserve.io/v1beta1", "InferenceService")
    model = service.spec.predictor.model
    assert model.runtime == runtime.metadata.name
    assert model.model_format.name in [f.name for f in runtime.spec.supported_model_formats]
    assert model.protocol_version in runtime.spec.protocol_versions
    # Requests in flight and the wait for the nodes fit into the time that the pod has.
    container = runtime.spec.containers[0]
    timeout = int(next(a for a in container.args if "exit-timeout" in a).partition("=")[2])
    wait = container.lifecycle.pre_stop.sleep.seconds
    assert service.spec.predictor.termination_grace_period_seconds > timeout + wait


def test_an_unknown_field_is_found(kinds, documents):
    wrong = {**documents[0], "spec": {**documents[0]["spec"], "containres": []}}
    with pytest.raises(AssertionError, match=r"ServingRuntimeSpec at runtime.spec has no .'containres'."):
        read(wrong, "V1alpha1ServingRuntime", kinds, "runtime")


def test_line(documents, tmp_path):
    """The server takes the line, and answers the probes where the manifest says."""
    container = documents[0]["spec"]["containers"][0]
    assert container["command"] == ["/usr/local/bin/paddle-mps"]
    assert container["args"][:2] == ["serve", "/mnt/models"]
    assert f"--http-port={container['ports'][0]['containerPort']}" in container["args"]
    assert f"--metrics-port={documents[0]['spec']['annotations']['prometheus.kserve.io/port']}" in container["args"]
    models.unary(tmp_path / "m", "Neg")
    line = [re.sub(r"-port=\d+", "-port=0", a.replace("0.0.0.0", "127.0.0.1")) for a in container["args"][2:]]
    with running.serving(str(tmp_path), *line) as server:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert test_models.fetch(server.http, container[probe]["httpGet"]["path"])[0] == 200
