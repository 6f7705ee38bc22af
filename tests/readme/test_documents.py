"""What the tests of documents read them with sees what it should."""

from __future__ import annotations

import pathlib

import pytest
from documents import anchors, blocks, kept, promises, prose, tables

PAGE = """# A page: of its own

Text with [a link](#a-page-of-its-own).

| a | b |
|---|---|
| `x` | y |

1. A step

   ```sh
   true
   ```

```python
# Not a heading
print(1)  # -> 1
print(2)  # the second  -> 2
```

## From C++
"""


@pytest.fixture
def page(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return str(path)


def test_parts(page: str) -> None:
    assert blocks(page, "sh") == ["true\n"]
    assert len(blocks(page)) == 2
    assert "print" not in prose(page)
    assert tables(page) == [[["`x`", "y"]]]
    assert anchors(page) == {"a-page-of-its-own", "from-c"}


def test_promises() -> None:
    assert promises(PAGE) == ["1", "2"]
    assert promises('printf("1"); /* -> 1 */\nputs("2");  // -> 2') == ["1", "2"]
    assert promises("x -> y") == []


@pytest.mark.parametrize(
    ("printed", "good"), [("1\n2\n", True), ("0\n1\n1\n2\n", True), ("2\n1\n", False), ("1\n", False)]
)
def test_promises_are_kept_in_order(printed: str, good: bool) -> None:
    if good:
        kept(PAGE, printed)
        return
    with pytest.raises(AssertionError, match="was not printed"):
        kept(PAGE, printed)
