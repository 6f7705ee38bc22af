"""Ensembles: graphs of models. Texts and statuses are those that tritonserver 2.51 gave for the same repository."""

from __future__ import annotations

import concurrent.futures
import pathlib

import models
import numpy as np
import pytest
import running
import test_infer
import test_metrics
import test_models
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

IN = 'input { name: "a" data_type: TYPE_FP32 dims: 4 }'
OUT = 'output { name: "b" data_type: TYPE_FP32 dims: 4 }'


def step(model: str, inputs: dict[str, str], outputs: dict[str, str], version: int = -1) -> str:
    """A step of a configuration."""
    maps = [("input_map", inputs), ("output_map", outputs)]
    words = [f'{kind} {{ key: "{k}" value: "{v}" }}' for kind, pairs in maps for k, v in pairs.items()]
    return f'step {{ model_name: "{model}" model_version: {version} {" ".join(words)} }}'


def ensemble(repository: pathlib.Path, name: str, steps: str, given: str = IN, more: str = "max_batch_size: 4") -> None:
    """Writes an ensemble."""
    (repository / name / "1").mkdir(parents=True)
    config = f'platform: "ensemble" {more} {given} {OUT} ensemble_scheduling {{ {steps} }}'
    (repository / name / "config.pbtxt").write_text(config)


def part(repository: pathlib.Path, name: str, operator: str) -> None:
    """Writes a model of steps."""
    ports = 'input { name: "x" data_type: TYPE_FP32 dims: 4 } output { name: "y" data_type: TYPE_FP32 dims: 4 }'
    models.unary(
        repository / name, operator, config=f'backend: "metal_mps" max_batch_size: 4 dynamic_batching {{}} {ports}'
    )


CHAIN = step("neg", {"x": "a"}, {"y": "m"}) + step("exp", {"x": "m"}, {"y": "b"})
POLL = "failed to load '{}', failed to poll from model repository"
# By name: what differs from a good one, and the text of the refusal.
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "big": (
        {"more": "max_batch_size: 9"},
        "load failed for model 'big': ensemble big allows maximum batch size 9, but it contains model neg which only allows maximum batch size to be 4\n",
    ),
    "missing": (
        {"steps": step("none", {"x": "a"}, {"y": "b"})},
        "load failed for model 'missing': ensemble missing contains models that are not available or ambiguous: none\n",
    ),
    "self": (
        {"steps": step("self", {"a": "a"}, {"b": "b"})},
        "load failed for model 'self': circular dependency between ensembles: self -> ... -> self -> self\n",
    ),
    "shape": (
        {"given": IN.replace("4", "5")},
        "load failed for model 'shape': in ensemble shape, ensemble tensor a: inconsistent shape: [-1,5] is inferred from model shape while [-1,4] is inferred from model neg\n",
    ),
    "type": (
        {"given": IN.replace("FP32", "INT32")},
        "load failed for model 'type': in ensemble type, ensemble tensor a: inconsistent data type: TYPE_INT32 is inferred from model type while TYPE_FP32 is inferred from model neg\n",
    ),
    "version": (
        {"steps": step("neg", {"x": "a"}, {"y": "b"}, 7)},
        "load failed for model 'version': ensemble 'version' depends on 'neg' whose required version 7 is not loaded.\n",
    ),
    "wrongin": (
        {"steps": step("neg", {"z": "a"}, {"y": "b"})},
        "load failed for model 'wrongin': in ensemble wrongin, ensemble tensor a is mapping to non-existing input z in model neg\n",
    ),
    "wrongout": (
        {"steps": step("neg", {"x": "a"}, {"z": "b"})},
        "load failed for model 'wrongout': in ensemble wrongout, ensemble tensor b is mapped from non-existing output z in model neg\n",
    ),
    "loop": ({"steps": step("neg", {"x": "m"}, {"y": "b"}) + step("exp", {"x": "b"}, {"y": "m"})}, POLL),
    "unmapped": ({"steps": step("neg", {}, {"y": "b"})}, POLL),
    "noout": ({"steps": step("neg", {"x": "a"}, {})}, POLL),
    "unused": ({"steps": CHAIN + step("neg", {"x": "a"}, {"y": "q"})}, POLL),
    "twice": ({"steps": step("neg", {"x": "a"}, {"y": "b"}) + step("exp", {"x": "a"}, {"y": "b"})}, POLL),
    "nosteps": ({"steps": ""}, POLL),
    "noname": ({"steps": step("", {"x": "a"}, {"y": "b"})}, POLL),
    "noin": ({"steps": step("neg", {"x": "w"}, {"y": "b"})}, POLL),
    "group": ({"more": "max_batch_size: 4 instance_group { count: 1 }"}, POLL),
    "warm": ({"more": 'max_batch_size: 4 model_warmup { name: "w" }'}, POLL),
    "opt": ({"more": "max_batch_size: 4 optimization {}"}, POLL),
    "dyn": ({"more": "max_batch_size: 4 dynamic_batching {}"}, POLL),
}


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
    part(tmp_path, "neg", "Neg")
    part(tmp_path, "exp", "Exp")
    ensemble(tmp_path, "good", CHAIN)
    return tmp_path


def answer(client, module, x, model: str = "good"):
    return client.infer(model, test_infer.given(module, a=("FP32", x))).as_numpy("b")


@pytest.mark.parametrize("protocol", test_infer.PROTOCOLS)
def test_values_statistics_and_metadata(repository, protocol):
    module = test_infer.PROTOCOLS[protocol]
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    with running.serving(str(repository)) as server, test_infer.connect(server, protocol) as client:
        np.testing.assert_array_equal(answer(client, module, x), in_steps(client, module, x))
        more = {"as_json": True} if protocol == "grpc" else {}
        assert client.get_model_metadata("good", **more)["platform"] == "ensemble"
        config = client.get_model_config("good", **more)
        config = config.get("config", config)
        assert config["platform"] == "ensemble" and not config.get("instance_group") and "optimization" not in config
        stats = {m["name"]: m for m in client.get_inference_statistics(**more)["model_stats"]}
        for name, requests in {"good": 1, "neg": 2, "exp": 2}.items():
            assert int(stats[name]["inference_stats"]["success"]["count"]) == requests
            assert int(stats[name]["inference_count"]) == 3 * requests
        good = stats["good"]["inference_stats"]
        assert int(stats["good"]["execution_count"]) == 1 and int(good["compute_infer"]["ns"]) > 0
        assert int(good["success"]["ns"]) >= int(good["compute_infer"]["ns"])
        with pytest.raises(InferenceServerException) as error:
            answer(client, module, np.ones((2, 5), np.float32))
        assert error.value.message().startswith(
            "[request id: <id_unknown>] unexpected shape for input 'a' for model 'good'. Expected [-1,4], got [2,5]. NOTE: "
        )
        _, values = test_metrics.read(server)
        assert values['nv_inference_request_success{model="good",version="1"}'] == 1


def in_steps(client, module, x):
    """The same by asking the models one after the other."""
    for name in ("neg", "exp"):
        x = client.infer(name, test_infer.given(module, x=("FP32", x))).as_numpy("y")
    return x


def test_refusals(repository):
    for name, (change, _) in REFUSED.items():
        ensemble(repository, name, **{"steps": CHAIN, **change})
    with (
        running.serving(str(repository), "--model-control-mode=explicit") as server,
        test_infer.connect(server, "http") as client,
    ):
        for name, (_, text) in REFUSED.items():
            with pytest.raises(InferenceServerException) as error:
                client.load_model(name)
            assert error.value.message() == text.format(name), name
            assert error.value.status() == ("500" if text is POLL else "400"), name
            assert {"name": name} in client.get_model_repository_index()
        client.load_model("good")
        assert (answer(client, http, np.zeros((1, 4), np.float32)) == 1).all()


def test_circles_of_several(tmp_path):
    ensemble(tmp_path, "c1", step("c2", {"a": "a"}, {"b": "b"}))
    ensemble(tmp_path, "c2", step("c1", {"a": "a"}, {"b": "b"}))
    text = r"circular dependency between ensembles: c1 -> \.\.\. -> c2 -> c1"
    with (
        running.serving(str(tmp_path), "--model-control-mode=explicit") as server,
        test_infer.connect(server, "http") as client,
        pytest.raises(InferenceServerException, match=text),
    ):
        client.load_model("c1")


def test_models_come_and_go(repository):
    """An ensemble is out while one of its models is, and back with it; models that no client asked for go with it."""
    ensemble(repository, "outer", step("good", {"a": "a"}, {"b": "m"}) + step("neg", {"x": "m"}, {"y": "b"}))
    x = np.zeros((1, 4), np.float32)
    with (
        running.serving(str(repository), "--model-control-mode=explicit") as server,
        test_infer.connect(server, "http") as client,
    ):

        def states() -> dict[str, str]:
            return {m["name"]: m.get("state", "") for m in client.get_model_repository_index()}

        client.load_model("outer")
        assert set(states().values()) == {"READY"}
        assert (answer(client, http, x, "outer") == -1).all()
        client.unload_model("exp")
        # An unload does not wait for the version to leave, as in tritonserver.
        out = {"neg": "READY", "exp": "UNAVAILABLE", "good": "UNAVAILABLE", "outer": "UNAVAILABLE"}
        test_models.wait(lambda: states() == out)
        assert client.is_server_ready()
        with pytest.raises(InferenceServerException, match="'outer' has no available versions"):
            answer(client, http, x, "outer")
        part(repository, "exp", "Neg")  # another model of that name
        client.load_model("exp")
        assert set(states().values()) == {"READY"}
        assert (answer(client, http, x + 1, "outer") == -1).all() and (answer(client, http, x + 1) == 1).all()
        client.unload_model("outer", unload_dependents=True)
        test_models.wait(lambda: states() == {**out, "neg": "UNAVAILABLE", "exp": "READY"})


def test_branches_under_load(repository):
    """Two branches from one input, many clients, and a model that is replaced all the while: no request is refused."""
    (repository / "sum" / "1").mkdir(parents=True)
    ports = [models.port(n, models.TensorProto.FLOAT, "n", 4) for n in ("x", "z", "y")]
    models.write(
        repository / "sum",
        [models.helper.make_node("Add", ["x", "z"], ["y"])],
        ports[:2],
        ports[2:],
        config='backend: "metal_mps" max_batch_size: 4 dynamic_batching {} input { name: "x" data_type: TYPE_FP32 dims: 4 }'
        ' input { name: "z" data_type: TYPE_FP32 dims: 4 } output { name: "y" data_type: TYPE_FP32 dims: 4 }',
    )
    ensemble(
        repository,
        "branches",
        step("neg", {"x": "a"}, {"y": "n"})
        + step("exp", {"x": "a"}, {"y": "e"})
        + step("sum", {"x": "n", "z": "e"}, {"y": "b"}),
    )
    with running.serving(str(repository), "--model-control-mode=explicit", "--load-model=branches") as server:

        def client_of(seed: int) -> int:
            x = np.random.default_rng(seed).standard_normal((2, 4)).astype(np.float32)
            with test_infer.connect(server, "http") as client:
                first = answer(client, http, x, "branches")
                np.testing.assert_allclose(first, np.exp(x.astype(float)) - x, rtol=2**-22, atol=2**-22)
                for _ in range(50):
                    np.testing.assert_array_equal(answer(client, http, x, "branches"), first)
            return 50

        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            clients = [pool.submit(client_of, i) for i in range(6)]
            with test_infer.connect(server, "http") as client:
                for version in range(2, 8):
                    models.unary(repository / "neg", "Neg", version=version)
                    client.load_model("neg")
            assert sum(c.result() for c in clients) == 300
