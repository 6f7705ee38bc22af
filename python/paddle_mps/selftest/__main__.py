"""python -m paddle_mps.selftest"""

import sys

from .command import main

sys.exit(main(sys.argv[1:]))
