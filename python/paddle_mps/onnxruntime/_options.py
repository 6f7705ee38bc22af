"""Options of sessions and of runs. Most of them say how onnxruntime works inside, and change nothing here.

docs/onnx.md lists which ones have an effect. An option that asks for a result which this package cannot give, such as a file
with the optimized model, is an error where the session is made: see `SessionOptions._check`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, ClassVar

from ._failures import NotImplemented as NotSupported


class _Named(enum.IntEnum):
    """Numbers that print as onnxruntime's do: `ExecutionMode.ORT_PARALLEL`, in each version of Python."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class GraphOptimizationLevel(_Named):
    """How far a graph is optimized; without effect."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(_Named):
    """Whether operators run at the same time; without effect."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(_Named):
    """The order of operators; without effect."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Options:
    """Attributes with a type each, of which no others can be set: a misspelt option is an error, as in onnxruntime."""

    _defaults: ClassVar[dict[str, Any]] = {}
    _entries: dict[str, str]

    def __init__(self) -> None:
        for name, default in self._defaults.items():
            object.__setattr__(self, name, default)
        object.__setattr__(self, "_entries", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        want = type(self._defaults[name])
        if not self._accepts(value, want):
            raise TypeError(f"{type(self).__name__}.{name} is {value!r}; want {want.__name__}")
        object.__setattr__(self, name, int(value) if want is int else value)

    @staticmethod
    def _accepts(value: Any, want: type) -> bool:
        """Whether an attribute of a type takes a value: an enumeration only its own, a number any integer."""
        if want is int:
            return not isinstance(value, (str, bytes, float)) and hasattr(value, "__index__")
        return isinstance(value, want)

    def _entry(self, key: str) -> str:
        if key not in self._entries:
            raise RuntimeError(f"{type(self).__name__} does not have configuration with key: {key}")
        return self._entries[key]

    def _add_entry(self, key: str, value: str) -> None:
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"configuration {key!r} is {value!r}; want a str for each")
        self._entries[key] = value


class SessionOptions(_Options):
    """Options of a session. `add_free_dimension_override_by_name` has an effect; see docs/onnx.md for the others."""

    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_mem_reuse: bool
    enable_profiling: bool
    execution_mode: ExecutionMode
    execution_order: ExecutionOrder
    graph_optimization_level: GraphOptimizationLevel
    inter_op_num_threads: int
    intra_op_num_threads: int
    log_severity_level: int
    log_verbosity_level: int
    logid: str
    optimized_model_filepath: str
    profile_file_prefix: str
    use_deterministic_compute: bool
    use_per_session_threads: bool
    _sizes: dict[str, int]
    _providers: list[tuple[str, dict[str, str]]]

    _defaults: ClassVar[dict[str, Any]] = {
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True,
        "enable_mem_reuse": True,
        "enable_profiling": False,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "execution_order": ExecutionOrder.DEFAULT,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "inter_op_num_threads": 0,
        "intra_op_num_threads": 0,
        "log_severity_level": -1,
        "log_verbosity_level": 0,
        "logid": "",
        "optimized_model_filepath": "",
        "profile_file_prefix": "onnxruntime_profile_",
        "use_deterministic_compute": False,
        "use_per_session_threads": True,
    }

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "_sizes", {})
        object.__setattr__(self, "_providers", [])

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps a text under a key; no key has an effect."""
        self._add_entry(key, value)

    def get_session_config_entry(self, key: str) -> str:
        """The text under a key.

        Raises:
            RuntimeError: there is none.
        """
        return self._entry(key)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Gives a size to the dimensions of inputs that the file calls so."""
        self._sizes[str(name)] = int(size)

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Without effect: denotations are not read."""

    def add_provider(self, name: str, options: dict[str, str]) -> None:
        """Asks for a provider, as the argument of the session does."""
        self._providers.append((name, dict(options)))

    def has_providers(self) -> bool:
        """Whether `add_provider` was called."""
        return bool(self._providers)

    def register_custom_ops_library(self, path: str) -> None:
        """Raises NotImplemented: operators of other libraries cannot run here."""
        raise NotSupported.of(f"[onnxruntime] register_custom_ops_library({path!r}): there are no custom operators")

    def add_initializer(self, name: str, value: Any) -> None:
        """Raises NotImplemented."""
        raise NotSupported.of(f"[onnxruntime] add_initializer({name!r}): initializers are those of the file")

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Raises NotImplemented."""
        raise NotSupported.of(f"[onnxruntime] add_external_initializers({list(names)}): want weights in files")

    def _check(self) -> None:
        """Refuses what asks for a result that there will not be."""
        if self.optimized_model_filepath:
            raise NotSupported.of(
                f"[onnxruntime] optimized_model_filepath is {self.optimized_model_filepath!r}: no such file would be written"
            )


class RunOptions(_Options):
    """Options of a run. `terminate` ends a run before it begins, and not one that is under way."""

    log_severity_level: int
    log_verbosity_level: int
    logid: str
    only_execute_path_to_fetches: bool
    terminate: bool

    _defaults: ClassVar[dict[str, Any]] = {
        "log_severity_level": -1,
        "log_verbosity_level": 0,
        "logid": "",
        "only_execute_path_to_fetches": False,
        "terminate": False,
    }

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Keeps a text under a key; no key has an effect."""
        self._add_entry(key, value)

    def get_run_config_entry(self, key: str) -> str:
        """The text under a key.

        Raises:
            RuntimeError: there is none.
        """
        return self._entry(key)
