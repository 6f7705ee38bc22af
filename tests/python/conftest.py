"""Every test sees an mps device: a real one on a Mac that has it, else the emulated one."""

import os
import sys

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")
