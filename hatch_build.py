"""Build hook: compiles the Go library into the package and tags the wheel for its platform.

The library is built by `./build.sh lib`, so that compiler and linker flags are written down once.
GOOS and GOARCH in the environment make a wheel for another platform.

A wheel for Linux on x86-64 that is built on glibc 2.36 or later has a library with packed relocations, which is smaller and loads with
such a glibc only. Its tag says so, and pip on an older system refuses it. Every other library loads with glibc 2.35 as well.
"""

from __future__ import annotations

import os
import pathlib
import re
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
        packed = version != "editable" and packs()
        build(root, *(("prepare", "lib-wheel") if packed else ("lib",)))
        goos, goarch = platform(root)
        tag = TAGS[goos, goarch]
        if version != "editable":
            build(root, "tool")
            folder = root / "build" / f"{goos}-{goarch}"
            build_data["force_include"][str(folder / "paddle-mps")] = "paddle_mps/bin/paddle-mps"
            name = "libpaddlemps.dylib" if goos == "darwin" else "libpaddlemps.so"
            library = folder / "wheel" / name if packed else folder / name
            build_data["force_include"][str(library)] = f"paddle_mps/{name}"
            if packed:
                tag = f"manylinux_2_{glibc(library.read_bytes())}_x86_64"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"


def packs() -> bool:
    """Whether the relocations of a wheel are packed: it is for Linux on x86-64, and this machine's glibc, for which pip may be building
    it, reads them."""
    if os.environ.get("GOOS", "linux") != "linux" or os.environ.get("GOARCH", "amd64") != "amd64":
        return False
    if sys.platform != "linux" or os.uname().machine != "x86_64" or "CS_GNU_LIBC_VERSION" not in os.confstr_names:
        return False
    found = re.fullmatch(r"glibc 2\.(\d+).*", os.confstr("CS_GNU_LIBC_VERSION") or "")
    return found is not None and int(found[1]) >= PACKED


# The second number of the first version of glibc that reads packed relocations, 2.36.
PACKED = 36


def glibc(library: bytes) -> int:
    """The second number of the version of glibc that a library with packed relocations needs: of the newest of its symbols, or that of
    the relocations."""
    return max(PACKED, *(int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", library)))


def build(root: pathlib.Path, *what: str) -> None:
    """Builds the library, or the tool. What is missing for that ends the build with a message and no traceback: pip prints what is
    on standard error."""
    if shutil.which("sh") is None:
        raise SystemExit("[build] there is no sh; want macOS or Linux, where paddle-mps can be built")
    if subprocess.run(["sh", str(root / "build.sh"), *what], stdout=sys.stderr).returncode:
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
