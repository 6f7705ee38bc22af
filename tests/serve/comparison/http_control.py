"""Over HTTP: health, metadata, configurations, the index, statistics, paths and methods that there are not."""

from __future__ import annotations

from collections.abc import Iterator

from case import Case, get, post

PATHS = {
    "live": "/v2/health/live",
    "ready": "/v2/health/ready",
    "server": "/v2",
    "model": "/v2/models/type_fp32",
    "model ready": "/v2/models/type_fp32/ready",
    "version": "/v2/models/type_fp32/versions/1",
    "version ready": "/v2/models/type_fp32/versions/1/ready",
    "config": "/v2/models/type_fp32/config",
    "version config": "/v2/models/type_fp32/versions/1/config",
    "stats": "/v2/models/type_fp32/stats",
    "all stats": "/v2/models/stats",
    "infer": "/v2/models/type_fp32/infer",
    "index": "/v2/repository/index",
    "load": "/v2/repository/models/none/load",
    "unload": "/v2/repository/models/none/unload",
    "logging": "/v2/logging",
    "memory": "/v2/systemsharedmemory/status",
    "unregister": "/v2/systemsharedmemory/unregister",
    "cuda memory": "/v2/cudasharedmemory/status",
}

MODELS = "addsub fixed open wide reshaped labels versions optional gather half type_bool type_uint16 queued priorities warm both".split()

# Paths that lead nowhere, or nearly somewhere.
WRONG_PATHS = """/v1 /v2/ /v2/x /v2/health /v2/health/ /v2/health/x /v2/health/live/ /v2/models /v2/models/ /v2/models//config /v2/models/none
/v2/models/none/ready /v2/models/none/config /v2/models/none/stats /v2/models/type_fp32/ /v2/models/type_fp32/x /v2/models/type_fp32/versions
/v2/models/type_fp32/versions/ /v2/models/type_fp32/versions/0 /v2/models/type_fp32/versions/2 /v2/models/type_fp32/versions/2/ready
/v2/models/type_fp32/versions/2/config /v2/models/type_fp32/versions/2/stats /v2/models/type_fp32/versions/x /v2/models/type_fp32/versions/-1
/v2/models/type_fp32/versions/+1 /v2/models/type_fp32/versions/1x /v2/models/type_fp32/versions/01 /v2/models/type_fp32/versions/01/ready
/v2/models/type_fp32/versions/1/ /v2/models/type_fp32/versions/1/x /v2/models/type_fp32/versions/9223372036854775807
/v2/models/type_fp32/versions/9223372036854775808 /v2/models/type_fp32/versions/99999999999999999999/ready /v2/models/type_fp32/config/x
/v2/models/TYPE_FP32 /v2/models/type%5Ffp32 /v2/models/type_fp32%20 /v2/models/%74ype_fp32/ready /v2/models/type_fp32?a=b /v2?a=b /v2/health/live?x
/v2/models/gr%C3%B6%C3%9Fe /v2/models/gr%C3%B6%C3%9Fe/config /v2/models/.. /v2/models/%2e%2e /v2/models/%2e%2e/config /v2/models/a%2Fb /v2/models/a%00b/ready
/v2/models/%FF/ready /v2/models/%zz/ready /v2/models/x%20y/ready /v2/models/%3Cimg%3E/ready /v2/models/"/ready /v2/models/versions/versions/1
/v2/models/versions/versions/2/ready /v2/models/versions/versions/7 /v2/models/versions/versions/7/ready /v2/models/versions/ready /v2//health/live
//v2 /v2/models/type_fp32//ready /v2/repository /v2/repository/ /v2/repository/models /v2/systemsharedmemory /v2/systemsharedmemory/region
/v2/systemsharedmemory/region/none/status /v2/systemsharedmemory/region//status /v2/systemsharedmemory/x /v2/cudasharedmemory/region/none/status
/v2/logging/ /v2/logging/x /metrics /favicon.ico /status /index.html /v2/models/type_fp32/generate /v2/models/type_fp32/versions/1/generate_stream /v3/health/live
/v2/models/damaged /v2/models/damaged/ready /v2/models/damaged/config /v2/models/damaged/stats""".split()


def cases() -> Iterator[Case]:
    yield from (get(f"GET {path}", path) for path in PATHS.values())
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"):
        for name, path in PATHS.items():
            if method != "POST" or name not in ("infer", "index", "load", "unload", "logging", "unregister"):
                yield post(f"{method} {path}", path, b"", method=method)
    for name in MODELS:
        for what in ("", "/config", "/ready", "/stats"):
            yield get(f"GET {name}{what}", f"/v2/models/{name}{what}")
    for path in WRONG_PATHS:
        yield get(f"GET {path}", path)
    long = "a" * 300
    yield get("GET a long name", f"/v2/models/{long}")
    yield get("GET metadata with a body's type", "/v2", ("Content-Type", "text/html"))
    yield get("GET metadata, accept gzip", "/v2", ("Accept-Encoding", "gzip"))
    yield get("GET metadata, accept text", "/v2", ("Accept", "text/plain"))
    yield from index()
    yield from posts_nowhere()


def index() -> Iterator[Case]:
    path = "/v2/repository/index"
    bodies = {
        "nothing": b"",
        "an object": {},
        "ready": {"ready": True},
        "not ready": {"ready": False},
        "another member": {"x": 1},
        "a number": {"ready": 1},
        "a text": {"ready": "true"},
        "null": {"ready": None},
        "a list": [],
        "a list of lists": [[1]],
        "true": b"true",
        "no JSON": b"{",
        "half a member": b'{"ready"',
        "two objects": b"{}{}",
        "spaces": b"   ",
        "ready twice": b'{"ready":true,"ready":false}',
        "no UTF-8": b'{"\xff":1}',
        "a byte order mark": b"\xef\xbb\xbf{}",
        "a comment": b"/* */{}",
        "a comma too many": b'{"ready":true,}',
        "single quotes": b"{'ready':true}",
    }
    for name, body in bodies.items():
        yield post(f"index: {name}", path, body)
    yield post("index of a repository", "/v2/repository/some/index", {})
    yield post("index of another path", "/v2/repository/models/index", {})
    yield post("index, type of a form", path, {}, ("Content-Type", "application/x-www-form-urlencoded"))


def posts_nowhere() -> Iterator[Case]:
    for path in """/v2/repository/models/none/x /v2/repository/models//load /v2/repository/a/models/none/load /v2/repository/a/models/none/unload
        /v2/repository/a/b/none/load /v2/repository/models/a/b/load /v2/systemsharedmemory/register /v2/systemsharedmemory/region/none/x
        /v2/models/infer /v2/models//infer /v2/models/type_fp32/versions/infer /v2/models/type_fp32/infer/ /infer /v2/infer""".split():
        yield post(f"POST {path}", path, {})
