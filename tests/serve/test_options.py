"""Options of the command line that change how the server is reached, and what it loads and logs."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import models
import numpy as np
import pytest
import running
import test_infer
import test_models
import tritonclient.grpc as grpc
import tritonclient.http as triton_http
from tritonclient.utils import InferenceServerException


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def authority(folder: Path, name: str) -> None:
    """An authority, NAME.pem and NAME.key, and a certificate of it for this machine, NAME-one.pem and NAME-one.key."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(folder, "req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    openssl(folder, "req", *key, "-keyout", f"{name}-one.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost")
    signed = ["-CA", f"{name}.pem", "-CAkey", f"{name}.key", "-CAcreateserial", "-extfile", "names"]
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}-one.pem")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities: the server trusts the first one alone."""
    folder = tmp_path_factory.mktemp("keys")
    authority(folder, "ours")
    authority(folder, "other")
    models.unary(folder / "models" / "m", "Neg")
    return folder


@contextlib.contextmanager
def secured(keys: Path, protocol: str, mutual: bool) -> Iterator[str]:
    """The address of a server that speaks TLS."""
    options = [f"--{protocol}-use-ssl=true", f"--{protocol}-server-cert={keys}/ours-one.pem"]
    options.append(f"--{protocol}-server-key={keys}/ours-one.key")
    if mutual:
        options += [f"--{protocol}-use-ssl-mutual=true", f"--{protocol}-root-cert={keys}/ours.pem"]
    with running.serving(str(keys / "models"), *options) as server:
        address: str = getattr(server, protocol)
        yield address


def context(keys: Path, authority: str = "ours", own: str = "") -> ssl.SSLContext:
    """What a client trusts, and the certificate that it has."""
    made = ssl.create_default_context(cafile=str(keys / f"{authority}.pem"))
    if own:
        made.load_cert_chain(keys / f"{own}-one.pem", keys / f"{own}-one.key")
    return made


def ask(address: str, how: ssl.SSLContext) -> int:
    """The status of a request over TLS."""
    one = http.client.HTTPSConnection(address, timeout=20, context=how)
    with contextlib.closing(one):
        one.request("GET", "/v2/models/m")
        return one.getresponse().status


@pytest.mark.parametrize("mutual", [False, True])
def test_tls_over_http(keys: Path, mutual: bool) -> None:
    x = np.ones((1, 4), np.float32)
    with secured(keys, "http", mutual) as address:
        own = "ours" if mutual else ""
        assert ask(address, context(keys, own=own)) == 200
        with pytest.raises(ssl.SSLError):
            ask(address, context(keys, "other", own))  # the client does not trust the server
        assert test_models.fetch(address, "/v2")[0] == 400  # without TLS
        if mutual:
            for wrong in ("", "other"):
                with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
                    ask(address, context(keys, own=wrong))
        factory = {"ssl_context_factory": lambda: context(keys, own=own)}
        with triton_http.InferenceServerClient(address, ssl=True, **factory) as client:
            y = client.infer("m", test_infer.given(triton_http, x=("FP32", x))).as_numpy("y")
        np.testing.assert_array_equal(y, -x)


@pytest.mark.parametrize("mutual", [False, True])
def test_tls_over_grpc(keys: Path, mutual: bool) -> None:
    x = np.ones((1, 4), np.float32)

    def client(authority: str = "ours", own: str = "ours" if mutual else "") -> grpc.InferenceServerClient:
        chain = {"private_key": f"{keys}/{own}-one.key", "certificate_chain": f"{keys}/{own}-one.pem"} if own else {}
        return grpc.InferenceServerClient(address, ssl=True, root_certificates=f"{keys}/{authority}.pem", **chain)

    with secured(keys, "grpc", mutual) as address:
        with client() as one:
            y = one.infer("m", test_infer.given(grpc, x=("FP32", x))).as_numpy("y")
        np.testing.assert_array_equal(y, -x)
        wrong = [client("other"), grpc.InferenceServerClient(address)]
        if mutual:
            wrong += [client(own=""), client(own="other")]
        for one in wrong:
            with one, pytest.raises(InferenceServerException):
                one.get_server_metadata(client_timeout=10)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--http-use-ssl=true"], "TLS is on, but certificate or key is missing"),
        (["--http-use-ssl=true", "--http-server-cert=ours-one.pem", "--http-server-key=other-one.key"], "with key"),
        (["--grpc-use-ssl=true", "--grpc-server-cert=none.pem", "--grpc-server-key=ours-one.key"], "no such file"),
        (
            [
                "--grpc-use-ssl-mutual=true",
                "--grpc-server-cert=ours-one.pem",
                "--grpc-server-key=ours-one.key",
                "--grpc-root-cert=ours.key",
            ],
            "has no certificate in PEM",
        ),
    ],
)
def test_certificates_that_are_wrong(keys: Path, options: list[str], text: str) -> None:
    line = [str(running.EXECUTABLE), "serve", "models", "--http-port=0", "--grpc-port=0", "--metrics-port=0", *options]
    done = subprocess.run(line, cwd=keys, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert text in done.stderr


def test_what_is_loaded_and_logged(keys: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = ["--backend-config=onnxruntime,default-max-batch-size=8", f"--log-file={log}", "--allow-grpc=off"]
    options += ["--model-load-thread-count=1", "--log-format=json", f"--model-store={keys / 'models'}"]
    with running.serving(*options) as server:
        assert not hasattr(server, "grpc")
        status, config = test_models.fetch(server.http, "/v2/models/m/config")
        assert status == 200 and b'"max_batch_size":8' in config
    assert '"msg":"successfully loaded \'m\'"' in log.read_text()


def test_without_http(keys: Path) -> None:
    with running.serving(str(keys / "models"), "--allow-http=false", "--allow-metrics=false") as server:
        assert not hasattr(server, "http") and not hasattr(server, "metrics")
        with grpc.InferenceServerClient(server.grpc) as client:
            assert client.is_server_ready()


def test_metrics_of_processors_can_be_left_out(keys: Path) -> None:
    for option, there in {"--allow-cpu-metrics=true": True, "--allow-cpu-metrics=false": False}.items():
        with running.serving(str(keys / "models"), option) as server:
            _, text = test_models.fetch(server.metrics, "/metrics")
            assert (b"nv_cpu_utilization" in text) == there
            assert b"nv_inference_request_success" in text
