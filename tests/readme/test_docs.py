"""docs/ keeps its word: its programs run, its links lead somewhere, its tables are complete."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from documents import DESIGN, DEVICES, LINK, PAGES, ROOT, anchors, blocks, fake, kept, output, prose, slug, tables, text

from paddle_mps._core._library import find

ELSEWHERE = sorted(p.name for p in ROOT.glob("*.md"))
METAL_ONLY = {"docs/shaders.md"}
WITH_CLIENTS = {"docs/triton.md", "docs/serving.md"}  # whose programs tests/triton and tests/serve run, where those are
STRICT = f"-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror -I{ROOT / 'include'}".split()
COMPILERS = {"c": [os.environ.get("CC", "cc"), "-std=c99"], "cpp": [os.environ.get("CXX", "c++"), "-std=c++17"]}


def pages(*languages: str) -> list[object]:
    """Pages that have programs in one of the languages, each with every device that it is for."""
    return [
        pytest.param(page, device, id=f"{page}-{device}")
        for page in PAGES
        if page not in WITH_CLIENTS and blocks(page, *languages)
        for device in DEVICES
        if device == "metal" or page not in METAL_ONLY
    ]


@pytest.mark.parametrize(("page", "device"), pages("python"))
def test_python_runs(page: str, device: str, tmp_path: pathlib.Path) -> None:
    """The blocks of a page are one program; what shell commands call program.py is that program, and what they run as models
    are the files that it has written."""
    program = "".join(blocks(page, "python"))
    kept(program, output([sys.executable, "-c", program], tmp_path, device))
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    for command in blocks(page, "sh"):
        if "program.py" in command or "paddle-mps run " in command:
            output(["sh", "-euc", command], tmp_path, device, PADDLE_MPS_FALLBACK="1")


@pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal is Linux's")
def test_shaders_run_as_the_page_says(tmp_path: pathlib.Path) -> None:
    """The block after the one that names the file is the file; the command runs it in a checkout, of which it sees two folders."""
    fake()
    (tmp_path / "kernel.py").write_text(blocks("docs/shaders.md", "python")[0], encoding="utf-8")
    (tmp_path / "build").symlink_to(ROOT / "build")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    build, run = blocks("docs/shaders.md", "sh")[0].splitlines()
    assert (ROOT / build.split()[1]).is_file()
    kept(blocks("docs/shaders.md", "python")[0], output(["sh", "-euc", run], tmp_path, "auto"))


def test_serving_from_python(tmp_path: pathlib.Path) -> None:
    """The program makes a repository of a file of the checkout; here that is a file of the same name and ports."""
    (program,) = (block for block in blocks("docs/serving.md", "python") if "paddle_mps.serve" in block)
    (name,) = re.findall(r'file = "(.*)"', program)
    (tmp_path / name).parent.mkdir(parents=True)
    first = blocks("docs/onnx.md", "python")[0]
    (tmp_path / name).write_bytes(bytes.fromhex("".join(re.findall(r'"([0-9a-f]{20,})"', first))))
    assert re.fullmatch(r"(127\.0\.0\.1:\d+ ?){3}\n", output([sys.executable, "-c", program], tmp_path, "host"))


@pytest.mark.parametrize("language", COMPILERS)
@pytest.mark.parametrize(("page", "device"), pages(*COMPILERS))
def test_c_runs(page: str, device: str, language: str, tmp_path: pathlib.Path) -> None:
    library = pathlib.Path(find())
    for block in blocks(page, language):
        source = tmp_path / f"program.{language}"
        source.write_text(block, encoding="utf-8")
        link = [f"-L{library.parent}", "-lpaddlemps", f"-Wl,-rpath,{library.parent}", "-o", str(tmp_path / "program")]
        subprocess.run([*COMPILERS[language], *STRICT, str(source), *link], check=True)
        kept(block, output([str(tmp_path / "program")], tmp_path, device))


def test_every_block_is_one_that_is_tried() -> None:
    """In no page is there a program in a language that no test knows."""
    for page in PAGES:
        known = blocks(page, "python", "sh", "c", "cpp", "json", "cmake")
        assert blocks(page) == known, page
        for block in blocks(page, "json"):
            json.loads(block)
        for block in blocks(page, "sh"):
            subprocess.run(["sh", "-n"], input=block, text=True, check=True)
        for block in blocks(page, "cmake"):  # what tests/package builds the examples with
            assert block.splitlines()[0] in text("examples/CMakeLists.txt")


@pytest.mark.parametrize("document", [*ELSEWHERE, *PAGES, *DESIGN])
def test_links_lead_somewhere(document: str) -> None:
    for link in LINK.findall(prose(document)):
        file, _, anchor = link.partition("#")
        target = (ROOT / document).parent / file if file else ROOT / document
        assert target.exists(), link
        assert not anchor or anchor in anchors(os.path.relpath(target, ROOT)), link


def test_every_page_is_found_from_the_guide() -> None:
    linked = {f"docs/{link.partition('#')[0]}" for link in LINK.findall(prose("docs/guide.md"))}
    assert set(PAGES) <= linked | {"docs/guide.md"}


def test_index_of_design_decisions_is_complete() -> None:
    """docs/design/README.md lists the questions of each page once, in the order of the page, each with an answer."""
    index = "docs/design/README.md"
    listed = [row for table in tables(index) for row in table]
    asked = [
        (heading, f"{page.removeprefix('docs/design/')}#{slug(heading)}")
        for page in dict.fromkeys(f"docs/design/{link.partition('#')[0]}" for link in LINK.findall(prose(index)))
        if page in DESIGN
        for heading in re.findall(r"^## (.*)$", prose(page), re.MULTILINE)
    ]
    assert [question for question, _ in listed] == [f"[{heading}]({link})" for heading, link in asked]
    assert {link.partition("#")[0] for _, link in asked} == {page.removeprefix("docs/design/") for page in DESIGN} - {
        "README.md"
    }
    assert all(heading.endswith("?") for heading, _ in asked)
    assert all(answer.endswith(".") for _, answer in listed)


def test_questions_stay_apart() -> None:
    """No question is answered on two pages."""
    questions = [h for page in DESIGN for h in re.findall(r"^## (.*\?)$", prose(page), re.MULTILINE)]
    assert len(questions) == len(set(questions)) > 100


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/tour.md"])
def test_files_and_folders_are_there(document: str) -> None:
    """What stands between backquotes and begins with a folder of the checkout is in it; NAME and * stand for any name."""
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    named = re.findall(rf"`((?:{folders})(?:/[^`\s]*)?)`", prose(document))
    assert len(named) > 10
    for path in named:
        pattern = path.removesuffix("/...").rstrip("/")
        assert any(ROOT.glob(pattern)), path


def code(cell: str) -> list[str]:
    """What stands between backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def read_variables(pattern: str, *folders: str) -> set[str]:
    """The environment variables that stand, as whole strings, in sources that are not tests."""
    found: set[str] = set()
    for path in (p for folder in folders for p in (ROOT / folder).rglob("*.*")):
        if path.suffix in (".go", ".py", ".c", ".h") and not path.name.endswith("_test.go"):
            found |= set(re.findall(f'"({pattern})"', path.read_text(encoding="utf-8")))
    return found


def test_environment_is_complete() -> None:
    library, _, stand_in = tables("docs/environment.md")
    shipped = (
        "alloc",
        "capi",
        "cmd",
        "core",
        "internal/environment",
        "kernels",
        "objc",
        "place",
        "python/paddle_mps",
        "python/paddle_mps_triton",
    )
    named = {row[0].strip("`") for row in library}
    assert named == read_variables(r"(?:PADDLE_MPS|MPS|TRITON_MPS)_[A-Z0-9_]+", *shipped)
    assert {row[0].strip("`") for row in stand_in} == read_variables(r"FAKEMETAL_[A-Z_]+", "tests/fakemetal")


def test_switches_of_the_mock_are_described() -> None:
    """The list of harsh.c, which FAKEMETAL_WORST turns on, has the values that the page gives."""
    default = {row[0].strip("`"): row[1] for row in tables("docs/environment.md")[2]}
    source = (ROOT / "tests" / "fakemetal" / "harsh.c").read_text()
    switches = re.findall(r'= \{"(FAKEMETAL_\w+)", (\d+), ([\d< ]+), (?:true|false), "\(\d+\) ', source)
    assert len(switches) == source.count('= {"FAKEMETAL_') > 20
    for name, usual, worst in switches:
        value, _, shift = worst.partition(" << ")
        numbers = [usual, str(int(value) << int(shift or 0))]
        wanted = numbers if numbers != ["0", "1"] else ["FAKEMETAL_WORST"]
        assert re.findall(r"that of `(FAKEMETAL_WORST)`|\b(\d+)\b", default[name]), name
        assert all(word in default[name] for word in wanted), (name, default[name])


def test_every_variable_named_anywhere_is_on_its_page() -> None:
    known = set(re.findall(r"\b[A-Z]+_[A-Z_]+\b", text("docs/environment.md")))
    for document in [*ELSEWHERE, *PAGES, *DESIGN]:
        used = re.findall(r"\b(?:PADDLE_MPS|MPS|FAKEMETAL|MTL)_[A-Z_]+\b(?!\*)", text(document))
        assert set(used) <= known, document
