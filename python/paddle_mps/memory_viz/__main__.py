"""python -m paddle_mps.memory_viz"""

import sys

from . import main

sys.exit(main(sys.argv[1:]))
