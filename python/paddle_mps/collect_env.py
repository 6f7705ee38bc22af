"""Prints what to include in a report of a problem: paddle-mps collect-env, or python -m paddle_mps.collect_env"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .selftest.environment import text


def main(arguments: Sequence[str]) -> int:
    """The command: prints the facts and returns the exit status."""
    description = "Prints what to include in a report of a problem: versions, system, devices and variables."
    argparse.ArgumentParser(prog="paddle-mps collect-env", description=description).parse_args(arguments)
    print(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
