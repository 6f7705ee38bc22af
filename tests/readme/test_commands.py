"""Every command line of the READMEs, the guides and CONTRIBUTING.md.

Those that take seconds and need nothing else run here or in a test of their page. Of the others the command is looked up and its
options are, in what it prints for --help, and the test is skipped with the reason why it does not run: skips are counted.
"""

from __future__ import annotations

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
from typing import Callable

import pytest
from documents import DESIGN, PAGES, READMES, ROOT, blocks, on, output, prose, text

DOCUMENTS = [*READMES, *PAGES, *DESIGN, "CONTRIBUTING.md", "examples/triton/README.md"]
PROGRAM = "import {0} as module\nprint(module.__name__)\n"


def lines(document: str) -> list[str]:
    """The command lines of a document: those of its blocks, and in its text what stands between backquotes and is one."""
    found: list[str] = []
    for block in blocks(document, "sh", "bash"):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"(^|\s)#(?! ?->).*", "", line).strip()
            if command and not re.match(
                r"(\w+: |input \[|output \[|[ }\]])", line
            ):  # a configuration between the commands
                found += [part.strip() for part in command.split("&&")]
    inline = re.findall(r"`((?:\w+=\S+ )*(?:\./|python3? -m |paddle-mps )[^`\n]*)`", prose(document))
    return list(dict.fromkeys([*found, *inline]))


def all_lines() -> list[object]:
    """The lines of all documents; one that several have is tried once."""
    where: dict[str, str] = {}
    for document in DOCUMENTS:
        for line in lines(document):
            where.setdefault(line, document)
    return [pytest.param(line, id=f"{document}: {line}") for line, document in where.items()]


@functools.cache
def build_help() -> str:
    return subprocess.run(["sh", "build.sh", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@functools.cache
def said(*command: str) -> str:
    """What a command says about itself."""
    done = subprocess.run([*command, "--help"], env=on("host"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def options(words: list[str], help_text: str) -> None:
    """The options among the words are described."""
    for word in words:
        if word.startswith("-"):
            assert re.search(rf"(?<![\w-]){re.escape(word.partition('=')[0])}\b", help_text), word


def of_build(words: list[str], folder: pathlib.Path) -> None:
    """./build.sh help lists the command, with the word after it where that is no file or number of the reader's."""
    assert (ROOT / "build.sh").is_file()
    words = [w for w in words if re.fullmatch(r"[a-z][a-z-]*", w)]
    if words[:1] != ["help"]:
        assert not words or re.search(
            rf"^  {re.escape(' '.join(words[:2]))}\b|^  {words[0]} \[", build_help(), re.MULTILINE
        ), words
        assert not words or re.search(rf"^  {words[0]}\b", build_help(), re.MULTILINE), words


def of_tool(words: list[str], folder: pathlib.Path) -> None:
    """paddle-mps knows the command and the options."""
    tool = [sys.executable, "-c", "import sys; from paddle_mps._tool import main; sys.exit(main())"]
    listed = said(*tool)
    if not words or words[0] == "--help":
        return
    assert re.search(rf"paddle-mps {words[0]}\b", listed), words
    if words[0] == "triton":
        assert len(words) == 1 or words[1] in listed
    elif words[0] != "serve":  # whose options are those of the program in Go: tests/serve/test_options.py
        options(words[1:], said(*tool, words[0]))


def of_selftest(words: list[str], folder: pathlib.Path) -> None:
    help_text = said(sys.executable, "-m", "paddle_mps.selftest")
    options(words, help_text)
    if "--section" in words:
        assert re.search(rf"--section {{.*\b{words[words.index('--section') + 1]}\b", help_text)


def of_script(words: list[str], folder: pathlib.Path) -> None:
    """python -m paddle_mps runs a script, in which `paddle` or onnxruntime is this package."""
    words = words or ["--version"]
    if words == ["--version"]:
        assert output([sys.executable, "-m", "paddle_mps", *words], folder, "host")
        return
    other = "--onnxruntime" in words[0]
    assert words[other] == "script.py"
    (folder / "script.py").write_text(PROGRAM.format("onnxruntime" if other else "paddle"), encoding="utf-8")
    wanted = "paddle_mps.onnxruntime\n" if other else "paddle_mps\n"
    assert output([sys.executable, "-m", "paddle_mps", *words], folder, "host") == wanted


def of_module(words: list[str], folder: pathlib.Path) -> None:
    """python -m runs the module."""
    assert output([sys.executable, "-m", "paddle_mps.collect_env"], folder, "host")


def of_checkout(words: list[str], folder: pathlib.Path) -> None:
    """The files of the checkout that are named are there."""
    for word in words:
        if re.match(r"(tests|core|kernels|examples)/", word):
            assert (ROOT / word.removesuffix("/...")).exists(), word


def nothing(words: list[str], folder: pathlib.Path) -> None:
    pass


# The start of a command, what is tried of it, and why it does not run here; empty where it does.
KINDS: list[tuple[str, Callable[[list[str], pathlib.Path], None], str]] = [
    (r"\./build\.sh", of_build, "takes minutes or installs packages; CI runs it"),
    (r"\./build_macos\.sh", nothing, "builds the backend: tests/tritonserver runs it"),
    (r"python -m paddle_mps(?= |$)", of_script, ""),
    (r"python -m paddle_mps\.collect_env", of_module, ""),
    (r"python -m paddle_mps\.selftest\.stored", nothing, "needs a Mac, on which it compiles all shaders: the workflow of Metal"),
    (r"(?:venv/bin/)?python3? -m paddle_mps\.selftest|paddle-mps selftest", of_selftest, "takes a minute and more: tests/selftest"),
    (r"(?:build/(?:bin/)?)?paddle-mps triton", lambda words, folder: of_tool(["triton", *words], folder), "tests/triton/test_documents.py runs it"),
    (r"(?:build/(?:bin/)?)?paddle-mps serve", lambda words, folder: of_tool(["serve", *words], folder), "runs until Ctrl-C: tests/serve"),
    (r"(?:build/(?:bin/)?)?paddle-mps", of_tool, "tests/readme/test_docs.py runs the block of its page"),
    (r"python (?:-c .*|program\.py|kernel\.py)", nothing, "the program of its page: tests/readme/test_docs.py, tests/triton"),
    (r"\.venv/bin/python kernel\.py", nothing, "tests/readme/test_docs.py runs it"),
    (r"sh(?= tests)", of_checkout, "tests/readme/test_docs.py looks for it; the mock is built by each test that needs it"),
    (r"\.venv/bin/python -m pytest", of_checkout, "a part of ./build.sh test"),
    (r"go test", of_checkout, "a part of ./build.sh test"),
    (r"python3 (?:create_test_model|test_client)\.py", nothing, "tests/serve/test_examples.py runs it"),
    (r"cd|cp", nothing, "a part of a block that tests/serve/test_examples.py runs"),
    (r"export", nothing, "a setting of the reader's shell"),
    (r"python3 -m venv|venv/bin/python -m pip|pip", nothing, "needs the network: tests/package installs the wheel"),
    (r"docker run", nothing, "needs a container runtime and the network"),
    (r"xattr", nothing, "a command of macOS: the workflow of releases runs it"),
    (r"cc", nothing, "needs the installed header: tests/package/test_install.py"),
    (r"paddle2onnx", nothing, "needs PaddlePaddle and paddle2onnx, which are peers"),
    (r"tritonserver", nothing, "needs Triton Inference Server: ./build.sh test tritonserver"),
]  # fmt: skip


@pytest.mark.parametrize("line", all_lines())
def test_command(line: str, tmp_path: pathlib.Path) -> None:
    subprocess.run(["sh", "-n"], input=line, text=True, check=True)
    assignments, command = re.fullmatch(r"((?:[A-Z]\w*=\S+ )*)(.*)", line).groups()  # type: ignore[union-attr]
    known = text("docs/environment.md") + text("build.sh")
    for name in re.findall(r"(\w+)=\S+ ", assignments):
        assert name in known or name.startswith("GO"), name
    for start, tried, reason in KINDS:
        match = re.match(rf"(?:{start})(?:\s|$)", command)
        if match:
            tried(shlex.split(os.path.expandvars(command[match.end() :])), tmp_path)
            if reason:
                pytest.skip(reason)
            return
    pytest.fail(f"no row of KINDS is about {line!r}")


def test_commands_that_do_not_exist_are_seen(tmp_path: pathlib.Path) -> None:
    for tried, wrong in (
        (of_build, "tset"),
        (of_build, "demo nothing"),
        (of_tool, "sevre models"),
        (of_tool, "explain model.onnx --siez n=8"),
        (of_selftest, "--quik"),
        (of_selftest, "--section prboes"),
        (of_checkout, "tests/nothing.sh"),
        (of_script, "other.py"),
    ):
        with pytest.raises(AssertionError):
            tried(wrong.split(), tmp_path)


def test_the_lines_of_the_readmes_are_found() -> None:
    for document in READMES:
        found = lines(document)
        assert {"./build.sh demo", "python -m paddle_mps script.py", "paddle-mps serve", "python3 -m venv venv"} <= set(
            found
        )
        assert found == lines("README.md")
