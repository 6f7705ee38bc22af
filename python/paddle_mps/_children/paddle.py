"""`import paddle` in processes that a program of `python -m paddle_mps` starts: gives paddle_mps, as in the program itself.

The folder of this file is in the PYTHONPATH of these processes: see `paddle_mps.__main__`. An interpreter whose paddle_mps is another one,
or that has none, gets the paddle that it has without this file.
"""

import importlib
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.realpath(__file__))
_ours = importlib.util.find_spec("paddle_mps")
del sys.modules["paddle"]  # this file, which is replaced
if _ours is not None and os.path.dirname(os.path.realpath(_ours.origin or "")) == os.path.dirname(_here):
    importlib.import_module("paddle_mps").install()
else:
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != _here]
    importlib.import_module("paddle")
