"""Runs parts of the tests: what `./build.sh test`, `check`, `bench` and `ci` call. tests/runner says how, tests/parts.toml what."""

import sys

if __name__ == "__main__":
    from runner.main import main

    sys.exit(main(sys.argv[1:]))
