"""The version of the package, defined only here for Python."""

__version__ = "0.1.0"
