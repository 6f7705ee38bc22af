"""A plug-in of pytest with which a file of Paddle's tests runs in eager mode, by itself or over paddle_mps.

`LIBRARY` names the module that is to be `paddle`. Static graphs are left out: their switches do nothing, and the base class of
most tests, which runs each case in both modes, is told to run the eager one alone. A case that builds a static graph all the
same fails with both libraries, and is not counted.
"""

import importlib
import os
import sys
from typing import Any

if os.environ["LIBRARY"] == "paddle_mps":
    import paddle_mps

    paddle_mps.install()

import paddle


def leave_mode(place: Any = None) -> None:
    """In place of `paddle.enable_static` and `paddle.disable_static`."""


def run_eagerly() -> None:
    """Makes the base class of the tests in the current folder leave static graphs out."""
    apibase: Any = importlib.import_module("apibase")  # a file beside the tests
    prepare = apibase.APIBase.__init__

    def __init__(self: Any, function: Any) -> None:
        prepare(self, function)
        self.static = False

    apibase.APIBase.__init__ = __init__


paddle.enable_static = paddle.disable_static = leave_mode
sys.path.insert(0, os.getcwd())
if os.path.exists("apibase.py"):
    run_eagerly()
