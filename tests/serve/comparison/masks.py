"""What differs from run to run, and from machine to machine, is replaced."""

from __future__ import annotations

import pathlib
import re
import tempfile
from typing import Any

# Members that are times or sizes of memory.
VARYING = {"ns", "last_inference"}


def masked(value: Any, repository: pathlib.Path) -> Any:
    """A value with its times and the path of the repository replaced. Models are listed by name."""
    if isinstance(value, dict):
        made = {k: 0 if k in VARYING else masked(v, repository) for k, v in value.items()}
        made.pop("memory_usage", None)  # how much memory the library has taken
        return made
    if isinstance(value, list):
        made_list = [masked(v, repository) for v in value]
        if made_list and all(
            isinstance(v, dict) and "name" in v and ("state" in v or "inference_stats" in v or "key" in v)
            for v in made_list
        ):
            made_list.sort(key=lambda v: (v["name"], str(v.get("version", ""))))
        return made_list
    if isinstance(value, str):
        # Protobuf for Go has one of two spaces here, by the bytes of the executable, so that programs do not rely on its messages.
        value = value.replace(str(repository), "REPOSITORY").replace("proto:\xa0", "proto: ")
        # Files of a request are in a folder with such a name.
        return re.sub(re.escape(tempfile.gettempdir()) + r"/folder\w{6}", "REPOSITORY", value)
    return value
