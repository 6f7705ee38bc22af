"""python -m paddle_mps.selftest"""

import sys

from .command import main

try:
    status = main(sys.argv[1:])
except KeyboardInterrupt:
    status = 130  # as shells say it of a program that Ctrl-C has ended
sys.exit(status)
