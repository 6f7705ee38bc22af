"""The objects of the representation: types, values, operations, blocks and regions.

Names of methods are those by which Triton's Python files call them. An insertion point is a block and the operation
before which the next one goes, None for the end: an index would be wrong as soon as something is inserted in front of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

TERMINATORS = frozenset(
    (
        "tt.return",
        "scf.yield",
        "scf.condition",
        "cf.br",
        "cf.cond_br",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
    )
)


class Type:
    """An immutable type. Types are equal if their texts are."""

    __slots__ = ("bits", "element", "shape", "text")

    def __init__(self, text: str, bits: int = 0, shape: tuple[int, ...] | None = None, element: Type | None = None):
        self.text, self.bits, self.shape, self.element = text, bits, shape, element

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def is_fp16(self) -> bool:
        return self.text == "f16"

    def is_integer(self, width: int) -> bool:
        return self.text == f"i{width}"

    @property
    def scalar(self) -> Type:
        """The type of a tensor's elements; of anything else the type itself."""
        return self.element if self.shape is not None and self.element is not None else self

    @property
    def pointee(self) -> Type:
        """What pointers of this type, or of a tensor of them, point to: a tensor of the same shape."""
        inner = self.scalar.element
        assert inner is not None, f"{self.text} is no pointer"
        return self.with_element(inner)

    def with_element(self, element: Type) -> Type:
        return element if self.shape is None else tensor(element, self.shape)


def integer(width: int) -> Type:
    return Type(f"i{width}", width)


def tensor(element: Type, shape: Sequence[int]) -> Type:
    shape = [index(n) for n in shape]  # which may be tl.constexpr
    return Type(f"tensor<{''.join(f'{n}x' for n in shape)}{element.text}>", 0, tuple(shape), element)


def pointer(element: Type, space: int = 1) -> Type:
    return Type(f"!tt.ptr<{element.text}{'' if space == 1 else f', {space}'}>", 64, None, element)


class FunctionType:
    """Types of parameters and results."""

    def __init__(self, params: Iterable[Type], results: Iterable[Type]):
        self.params, self.results = list(params), list(results)

    def param_types(self) -> list[Type]:
        return self.params


class Location:
    """A line of the program; with a name, that of the variable a value is assigned to."""

    __slots__ = ("column", "file", "line", "name")

    def __init__(self, file: str = "", line: int = 0, column: int = 0, name: str | None = None):
        self.file, self.line, self.column, self.name = file, line, column, name

    def get_name(self) -> str | None:
        return self.name

    def set_name(self, name: str) -> None:
        self.name = name


class Value:
    """A result of an operation, or an argument of a block."""

    __slots__ = ("block", "instead", "loc", "name", "op", "type")

    def __init__(self, kind: Type | None = None, op: Operation | None = None, block: Block | None = None):
        self.type: Any = kind
        self.op, self.block = op, block
        self.loc: Location | None = None
        self.name: str | None = None
        self.instead: Value | None = None  # what replaces it

    def get_type(self) -> Type:
        return self.type  # type: ignore[no-any-return]

    def get_shape(self) -> list[int]:
        return list(self.type.shape or ())

    def get_loc(self) -> Location:
        found = self.loc if self.op is None else self.op.loc
        return found or Location()

    def set_loc(self, loc: Location) -> None:
        """The name is that of this value; an operation of several results has one line, and as many names."""
        self.name = loc.name or self.name
        if self.op is None:
            self.loc = loc

    def get_context(self) -> None:
        return None

    def id(self) -> int:
        return id(self)

    def set_attr(self, name: str, value: str) -> None:
        if self.op is not None:
            self.op.attrs[name] = value
        elif self.block is not None and isinstance(self.block.owner, Function):
            at = next(i for i, v in enumerate(self.block.args) if v is self)
            self.block.owner.arg_attrs[at][name] = value

    def replace_all_uses_with(self, other: Value) -> None:
        self.instead = other

    def real(self) -> Value:
        """The value that is printed where this one is used."""
        v = self
        while v.instead is not None:
            v = v.instead
        return v


class BlockArgument(Value):
    __slots__ = ()


class Operation:
    """An operation. head and tail are what is printed in front of the operands and behind them."""

    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        results: Iterable[Type] = (),
        head: str = "",
        tail: str = "",
        attrs: dict[str, str] | None = None,
        types: str = "same",
    ):
        self.name, self.operands = name, list(operands)
        self.results = [Value(t, self) for t in results]
        self.head, self.tail, self.types = head, tail, types
        self.attrs: dict[str, str] = attrs or {}
        self.regions: list[Region] = []
        self.targets: list[tuple[Block, list[Value]]] = []  # of branches
        self.loc: Location | None = None

    def add_region(self, *blocks: Block) -> Region:
        region = Region(self)
        self.regions.append(region)
        for block in blocks:
            region.push_back(block)
        return region

    def get_result(self, i: int) -> Value:
        return self.results[i]

    def get_num_results(self) -> int:
        return len(self.results)

    def get_region(self, i: int) -> Region:
        return self.regions[i]

    def get_body(self, i: int = 0) -> Block:
        return self.regions[i].blocks[0]

    def get_then_block(self) -> Block:
        return self.regions[0].blocks[0]

    def get_else_block(self) -> Block:
        return self.regions[1].blocks[0]

    def get_before(self) -> Region:
        return self.regions[0]

    def get_after(self) -> Region:
        return self.regions[1]

    def get_induction_var(self) -> Value:
        return self.regions[0].blocks[0].args[0]

    def get_operation(self) -> Operation:
        return self

    def set_attr(self, name: str, value: Any) -> None:
        self.attrs[name] = value

    def verify(self) -> bool:
        """The library verifies the text."""
        return True


class Region:
    """A list of blocks, of which the first is entered."""

    def __init__(self, owner: Operation | None = None):
        self.blocks: list[Block] = []
        self.owner = owner

    def push_back(self, block: Block) -> None:
        self.blocks.append(block)
        block.region = self

    def push_front(self, block: Block) -> None:
        self.blocks.insert(0, block)
        block.region = self

    def size(self) -> int:
        return len(self.blocks)

    def empty(self) -> bool:
        return not self.blocks

    def id(self) -> int:
        return id(self)


class Block:
    """Operations that run one after another."""

    def __init__(self, arguments: Iterable[Type] = ()):
        self.args: list[BlockArgument] = []
        self.ops: list[Operation] = []
        self.region: Region | None = None
        for kind in arguments:
            self.add_argument(kind)

    @property
    def owner(self) -> Operation | None:
        return self.region.owner if self.region else None

    def add_argument(self, kind: Type) -> BlockArgument:
        argument = BlockArgument(kind, None, self)
        self.args.append(argument)
        return argument

    def add_argument_at(self, kind: Type, loc: Location) -> BlockArgument:
        argument = self.add_argument(kind)
        argument.loc = loc
        return argument

    def arg(self, i: int) -> BlockArgument:
        return self.args[i]

    get_argument = arg

    def get_num_arguments(self) -> int:
        return len(self.args)

    def get_parent(self) -> Region | None:
        return self.region

    def id(self) -> int:
        return id(self)

    def erase(self) -> None:
        if self.region is not None:
            self.region.blocks.remove(self)
            self.region = None

    def merge_block_before(self, other: Block) -> None:
        """Moves the operations to the beginning of another block, and drops this one."""
        other.ops[:0] = self.ops
        self.ops = []
        self.erase()

    def has_terminator(self) -> bool:
        return bool(self.ops) and self.ops[-1].name in TERMINATORS

    def has_return(self) -> bool:
        return any(op.name == "tt.return" for op in self.ops)


class Function(Operation):
    """A function of the module."""

    def __init__(self, symbol: str, signature: FunctionType, visibility: str, noinline: bool):
        super().__init__("tt.func")
        self.symbol, self.signature, self.visibility, self.noinline = symbol, signature, visibility, noinline
        self.arg_attrs: list[dict[str, Any]] = [{} for _ in signature.params]
        self.add_region()

    def add_entry_block(self) -> Block:
        block = Block(self.signature.params)
        for argument in block.args:
            argument.loc = self.loc
        self.regions[0].push_back(block)
        return block

    def args(self, i: int) -> Value:
        return self.regions[0].blocks[0].args[i]

    def get_num_args(self) -> int:
        return len(self.signature.params)

    def set_arg_attr(self, i: int, name: str, value: Any) -> None:
        self.arg_attrs[i][name] = f"{index(value)} : i32"

    def reset_type(self, signature: FunctionType) -> None:
        self.signature = signature

    @property
    def type(self) -> FunctionType:
        return self.signature

    def finalize(self) -> None:
        """Nothing is left to do."""


class Module(Operation):
    """The functions of one kernel."""

    def __init__(self) -> None:
        super().__init__("module")
        self.functions: dict[str, Function] = {}
        self.context: Any = None

    def push_back(self, function: Function) -> None:
        self.functions[function.symbol] = function

    def has_function(self, name: str) -> bool:
        return name in self.functions

    def get_function(self, name: str) -> Function:
        return self.functions[name]

    def get_function_signature(self, function: Function) -> list[str]:
        return [t.text for t in function.signature.params]

    def get_entry_func_name(self) -> str:
        return next(name for name, function in self.functions.items() if function.visibility == "public")

    def get_int_attr(self, name: str) -> int | None:
        return None

    def get_tensordesc_metadata(self) -> list[Any]:
        """Descriptors are lowered to pointers: none is left to a launch."""
        return []

    def create_location_snapshot(self, path: str) -> None:
        """Locations stay those of the Python program."""

    def __str__(self) -> str:
        from ._text import printed

        return printed(self)

    str = str_nodebug = __str__

    def dump(self) -> None:
        print(self)
