"""Build hook: compiles the Go library into the package and tags the wheel for its platform.

The library is built by `./build.sh lib`, so that compiler and linker flags are written down once.
GOOS, GOARCH and CC in the environment make a wheel for another platform.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The platform part of a wheel's name, by (GOOS, GOARCH). A Mac needs at least macOS 13, which is
# also the deployment target that build.sh sets.
TAGS = {
    ("linux", "amd64"): "linux_x86_64",
    ("linux", "arm64"): "linux_aarch64",
    ("darwin", "amd64"): "macosx_13_0_x86_64",
    ("darwin", "arm64"): "macosx_13_0_arm64",
}


class LibraryHook(BuildHookInterface[Any]):
    """Runs before hatchling collects the files of a wheel; an sdist gets no library."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the library; `version` is "standard" or "editable" and makes no difference."""
        if self.target_name != "wheel":
            return
        root = pathlib.Path(self.root)
        subprocess.run(["sh", str(root / "build.sh"), "lib"], check=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(root)}"


def platform_tag(root: pathlib.Path) -> str:
    go = shutil.which("go") or "go"
    answer = subprocess.run([go, "env", "GOOS", "GOARCH"], cwd=root, check=True, capture_output=True, text=True)
    goos, goarch = answer.stdout.split()
    if (goos, goarch) not in TAGS:
        raise RuntimeError(f"[build] platform is {goos}/{goarch}; want one of {sorted(TAGS)}")
    return TAGS[goos, goarch]
