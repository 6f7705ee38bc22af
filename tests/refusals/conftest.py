"""The option with which the long form of the tests of refusals can be ended and started again."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--resume", metavar="FILE", help="pass over operators that FILE lists, and list finished ones there"
    )
