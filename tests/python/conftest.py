"""Every test sees an mps device: a real one on a Mac that has it, else the emulated one."""

import os
import signal
import sys

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")
os.environ.setdefault("PADDLE_MPS_DEFAULT_PLACE", "cpu")  # tests name the place where it matters

# A shell's background job begins with Ctrl-C ignored, and so would the programs that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
