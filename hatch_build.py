"""Build hook: compiles the Go library into the package and tags the wheel for its platform.

The library is built by `./build.sh lib`, so that compiler and linker flags are written down once.
GOOS and GOARCH in the environment make a wheel for another platform.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
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
        """Builds the library. A wheel takes that of its platform; an editable install finds that of this
        machine in the package."""
        if self.target_name != "wheel":
            return
        root = pathlib.Path(self.root)
        build(root)
        goos, goarch = platform(root)
        if version != "editable":
            build(root, "tool")
            tool = root / "build" / f"{goos}-{goarch}" / "paddle-mps"
            build_data["force_include"][str(tool)] = "paddle_mps/bin/paddle-mps"
            name = "libpaddlemps.dylib" if goos == "darwin" else "libpaddlemps.so"
            build_data["force_include"][str(root / "build" / f"{goos}-{goarch}" / name)] = f"paddle_mps/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[goos, goarch]}"


def build(root: pathlib.Path, what: str = "lib") -> None:
    """Builds the library, or the tool. What is missing for that ends the build with a message and no traceback: pip prints what is
    on standard error."""
    if shutil.which("sh") is None:
        raise SystemExit("[build] there is no sh; want macOS or Linux, where paddle-mps can be built")
    if subprocess.run(["sh", str(root / "build.sh"), what], stdout=sys.stderr).returncode:
        raise SystemExit(
            "[build] the library of paddle-mps was not built; the lines above say why. "
            "Building needs Go 1.26 or later and a C compiler; installing a wheel needs neither "
            "(https://github.com/paddle-mps/paddle-mps/blob/main/docs/install.md)"
        )


def platform(root: pathlib.Path) -> tuple[str, str]:
    """GOOS and GOARCH of what is built."""
    answer = subprocess.run(["go", "env", "GOOS", "GOARCH"], cwd=root, check=True, capture_output=True, text=True)
    goos, goarch = answer.stdout.split()
    if (goos, goarch) not in TAGS:
        raise SystemExit(f"[build] platform is {goos}/{goarch}; want one of {sorted(TAGS)}")
    return goos, goarch
