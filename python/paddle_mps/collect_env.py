"""Prints what a report of a problem should hold: python -m paddle_mps.collect_env"""

from .selftest.environment import text

if __name__ == "__main__":
    print(text())
