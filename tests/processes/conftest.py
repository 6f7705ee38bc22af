"""Programs that these tests start see an emulated mps device unless they say otherwise."""

import os
import signal
import sys

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")

# A shell's background job begins with Ctrl-C ignored, and so would the programs that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
