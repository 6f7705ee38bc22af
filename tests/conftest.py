"""All suites in Python: the hooks of sampling.py, which leave out the cases that have their turn at another commit; and collections of
garbage that do not look at the suite itself."""

import gc

from sampling import (  # noqa: F401
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_terminal_summary,
)


def pytest_collection_finish() -> None:
    """Tests, modules and parameters stay to the end; looking at them made each call of gc.collect in a test of the part python 0.2 s
    longer."""
    if hasattr(gc, "freeze"):
        gc.collect()
        gc.freeze()
