"""Programs that these tests start see an emulated mps device unless they say otherwise."""

import os
import sys

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")
