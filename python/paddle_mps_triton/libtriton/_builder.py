"""The builder: a method for each operation that Triton's Python files make, under the name by which they call it."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from . import _objects as objects
from . import _rows as rows
from ._enums import Atomic, CacheModifier, EvictionPolicy, InputPrecision, Order, Padding, PropagateNan, Rounding, Scope
from ._objects import Block, Function, FunctionType, Location, Module, Operation, Region, Type, Value
from ._text import quoted

Point = tuple[Any, Any]
I1, I32, I64 = objects.integer(1), objects.integer(32), objects.integer(64)
NARROW = {"f32": ("<f", "<I", 8), "f16": ("<e", "<H", 4), "f64": ("<d", "<Q", 16)}


def number(value: float, kind: str) -> str:
    """A float: with seven digits where these say all, or as bits."""
    if kind == "bf16":
        bits = float_bits(value, "f32")
        return f"0x{(bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF:04X}"
    if kind not in NARROW:
        return f"{value:.6e}"  # a float8: only zeros are made
    digits = NARROW[kind][2]
    bits = float_bits(value, kind)
    short = f"{value:.6e}"
    with contextlib.suppress(OverflowError):
        if value - value == 0 and float_bits(float(short), kind) == bits:
            return short
    return f"0x{bits:0{digits}X}"


def float_bits(value: float, kind: str) -> int:
    form, whole, _ = NARROW[kind]
    try:
        packed = struct.pack(form, value)
    except OverflowError:
        packed = struct.pack(form, float("inf") if value > 0 else float("-inf"))
    bits: int = struct.unpack(whole, packed)[0]
    return bits


def i32(value: Any) -> str:
    """An integer attribute, also of a tl.constexpr."""
    return f"{index(value)} : i32"


def boolean(value: Any) -> str:
    return "true" if value else "false"


def array(values: Iterable[int], width: int = 32) -> str:
    texts = [str(index(v)) for v in values]
    return f"array<i{width}: {', '.join(texts)}>" if texts else f"array<i{width}>"


class Builder:
    """Makes operations at a point of a block. Without a block it makes them nowhere, as for defaults of parameters."""

    def __init__(self, context: Any = None):
        self.context = context
        self.block: Block | None = None
        self.before: Operation | None = None
        self.here: Location | None = None
        self.options: Any = None

    # Operations.

    def put(self, op: Operation) -> Operation:
        op.loc = self.here
        if self.block is None:
            return op
        if self.before is None:
            self.block.ops.append(op)
        else:
            at = next(i for i, o in enumerate(self.block.ops) if o is self.before)
            self.block.ops.insert(at, op)
        return op

    def make(self, name: str, operands: Iterable[Value] = (), results: Iterable[Type] = (), **how: Any) -> Operation:
        return self.put(Operation(name, operands, results, **how))

    def one(self, name: str, operands: Iterable[Value], result: Type, **how: Any) -> Value:
        return self.make(name, operands, [result], **how).results[0]

    # Places.

    def set_loc(self, loc: Any, line: int = 0, column: int = 0) -> None:
        self.here = Location(loc, line, column) if isinstance(loc, str) else loc

    def get_loc(self) -> Location | None:
        return self.here

    def create_loc(self, file: str, line: int, column: int) -> Location:
        return Location(file, line, column)

    def create_name_loc(self, name: str, loc: Location | None = None) -> Location:
        inner = loc or Location()
        return Location(inner.file, inner.line, inner.column, name)

    def get_insertion_block(self) -> Block | None:
        return self.block

    def get_insertion_point(self) -> Point:
        return self.block, self.before

    def restore_insertion_point(self, point: Point) -> None:
        self.block, self.before = point

    def set_insertion_point_to_start(self, block: Block) -> None:
        self.block, self.before = block, block.ops[0] if block.ops else None

    def set_insertion_point_to_end(self, block: Block | None) -> None:
        self.block, self.before = block, None

    def set_insertion_point_after(self, op: Operation) -> None:
        assert self.block is not None
        at = next(i for i, o in enumerate(self.block.ops) if o is op) + 1
        self.before = self.block.ops[at] if at < len(self.block.ops) else None

    def create_module(self) -> Module:
        return Module()

    def create_block(self) -> Block:
        made = Block()
        if self.block is not None and self.block.region is not None:
            self.block.region.push_back(made)
        self.set_insertion_point_to_end(made)
        return made

    def new_block(self) -> Block:
        return Block()

    def create_block_with_parent(self, region: Region, arguments: Sequence[Type]) -> Block:
        made = Block(arguments)
        region.push_back(made)
        self.set_insertion_point_to_end(made)
        return made

    # Types and attributes.

    def get_void_ty(self) -> Type:
        return Type("none")

    def get_int1_ty(self) -> Type:
        return I1

    def get_int8_ty(self) -> Type:
        return objects.integer(8)

    def get_int16_ty(self) -> Type:
        return objects.integer(16)

    def get_int32_ty(self) -> Type:
        return I32

    def get_int64_ty(self) -> Type:
        return I64

    def get_int128_ty(self) -> Type:
        return objects.integer(128)

    def get_ptr_ty(self, element: Type, space: Any = 1) -> Type:
        """Metal's pointers say in the library where they point to: all of a kernel's point to device memory."""
        return objects.pointer(element)

    def get_block_ty(self, element: Type, shape: Sequence[int]) -> Type:
        return objects.tensor(element, shape)

    def get_function_ty(self, params: Iterable[Type], results: Iterable[Type]) -> FunctionType:
        return FunctionType(params, results)

    def create_tensor_descriptor_type(self, block: Type, signed: bool) -> Type:
        """Integers have a sign here, which tells the minimum of signed numbers from that of unsigned ones."""
        element = block.scalar
        text = f"{'s' if signed else 'u'}{element.text}" if element.text[0] == "i" else element.text
        shape = block.shape or ()
        made = Type(f"!tt.tensordesc<{''.join(f'{n}x' for n in shape)}{text}>", 0, None, block)
        return made

    def get_int32_attr(self, value: int) -> str:
        return i32(value)

    def get_bool_attr(self, value: bool) -> str:
        return boolean(value)

    def get_string_attr(self, value: str) -> str:
        return quoted(value)

    def get_unit_attr(self) -> str:
        return "unit"

    def get_disable_loop_licm_attr(self) -> str:
        return "#llvm.loop_annotation<licm = <disable = true>>"

    def get_cache_policy(self, cache: str, eviction: str) -> tuple[Any, Any]:
        """The policies by their names in Python, "" for none."""
        caches = {c.value.lstrip("."): c for c in CacheModifier}
        evictions = {e.value: e for e in EvictionPolicy} | {"": EvictionPolicy.NORMAL}
        return caches.get(cache.lstrip(".") or "none", CacheModifier.NONE), evictions[eviction]

    # Constants.

    def constant(self, text: str, kind: Type) -> Value:
        return self.one("arith.constant", (), kind, head=text)

    def whole(self, value: int, width: int) -> Value:
        """An integer, printed as a signed one."""
        value = index(value) & (1 << width) - 1
        return self.constant(str(value - (value >> width - 1 << width)), objects.integer(width))

    def get_int1(self, value: Any) -> Value:
        return self.constant(boolean(value), I1)

    def get_int8(self, value: int) -> Value:
        return self.whole(value, 8)

    def get_int16(self, value: int) -> Value:
        return self.whole(value, 16)

    def get_int32(self, value: int) -> Value:
        return self.whole(value, 32)

    def get_int64(self, value: int) -> Value:
        return self.whole(value, 64)

    get_uint8, get_uint16, get_uint32, get_uint64 = get_int8, get_int16, get_int32, get_int64

    def real(self, value: float, kind: str) -> Value:
        return self.constant(
            number(float(value), kind), Type(kind, 64 if kind == "f64" else 32 if kind == "f32" else 16)
        )

    def get_fp16(self, value: float) -> Value:
        return self.real(value, "f16")

    def get_bf16(self, value: float) -> Value:
        return self.real(value, "bf16")

    def get_fp32(self, value: float) -> Value:
        return self.real(value, "f32")

    def get_fp64(self, value: float) -> Value:
        return self.real(value, "f64")

    def get_null_value(self, kind: Type) -> Value:
        text = kind.scalar.text
        if text == "i1":
            return self.constant("false", kind)
        return self.constant("0" if text[0] == "i" else "0.000000e+00", kind)

    def get_all_ones_value(self, kind: Type) -> Value:
        return self.constant("true" if kind.scalar.text == "i1" else "-1", kind)

    def create_poison(self, kind: Type) -> Value:
        return self.one("ub.poison", (), kind)

    # Functions.

    def get_or_insert_function(
        self, module: Module, name: str, signature: FunctionType, visibility: str, noinline: bool
    ) -> Function:
        if not module.has_function(name):
            function = Function(name, signature, visibility, noinline)
            function.loc = self.here
            module.push_back(function)
        return module.get_function(name)

    def call(self, function: Function, operands: Sequence[Value]) -> Operation:
        return self.make("tt.call", operands, function.signature.results, head=quoted(function.symbol))

    def ret(self, values: Sequence[Value]) -> Operation:
        return self.make("tt.return", values, types="listed")

    # Control flow.

    def create_branch(self, target: Block, values: Sequence[Value] = ()) -> Operation:
        op = self.make("cf.br")
        op.targets = [(target, list(values))]
        return op

    def create_cond_branch(self, condition: Value, yes: Block, no: Block) -> Operation:
        op = self.make("cf.cond_br", [condition])
        op.targets = [(yes, []), (no, [])]
        return op

    def create_for_op(
        self, low: Value, high: Value, step: Value, initial: Sequence[Value], unsigned: bool = False
    ) -> Operation:
        op = self.make("scf.for", [low, high, step, *initial], [v.type for v in initial])
        op.add_region(Block([low.type, *(v.type for v in initial)]))
        return op

    def create_if_op(self, results: Sequence[Type], condition: Value, otherwise: bool) -> Operation:
        op = self.make("scf.if", [condition], results)
        op.add_region(Block())
        if otherwise:
            op.add_region(Block())
        return op

    def create_while_op(self, results: Sequence[Type], initial: Sequence[Value]) -> Operation:
        op = self.make("scf.while", initial, results)
        op.add_region()
        op.add_region()
        return op

    def create_condition_op(self, condition: Value, values: Sequence[Value]) -> Operation:
        return self.make("scf.condition", [condition, *values])

    def create_yield_op(self, values: Sequence[Value]) -> Operation:
        return self.make("scf.yield", values, types="listed")

    # The program, ranges and shapes.

    def create_get_program_id(self, axis: int) -> Value:
        return self.one("tt.get_program_id", (), I32, head="xyz"[axis])

    def create_get_num_programs(self, axis: int) -> Value:
        return self.one("tt.get_num_programs", (), I32, head="xyz"[axis])

    def create_make_range(self, kind: Type, start: int, end: int) -> Value:
        return self.one("tt.make_range", (), kind, attrs={"end": i32(end), "start": i32(start)})

    def create_splat(self, kind: Type, value: Value) -> Value:
        return self.one("tt.splat", [value], kind, types="arrow")

    def create_unsplat(self, value: Value) -> Value:
        return self.one("tt.unsplat", [value], value.type.scalar, types="first")

    def create_expand_dims(self, value: Value, axis: int) -> Value:
        shape = list(value.type.shape)
        shape.insert(axis, 1)
        made = objects.tensor(value.type.scalar, shape)
        return self.one("tt.expand_dims", [value], made, attrs={"axis": i32(axis)}, types="arrow")

    def create_broadcast(self, value: Value, shape: Sequence[int]) -> Value:
        return self.one("tt.broadcast", [value], objects.tensor(value.type.scalar, shape), types="arrow")

    def create_reshape(self, value: Value, shape: Sequence[int], reorder: bool = False) -> Value:
        made = objects.tensor(value.type.scalar, shape)
        return self.one("tt.reshape", [value], made, tail=" allow_reorder" if reorder else "", types="arrow")

    def create_trans(self, value: Value, order: Sequence[int]) -> Value:
        made = objects.tensor(value.type.scalar, [value.type.shape[i] for i in order])
        return self.one("tt.trans", [value], made, attrs={"order": array(order)}, types="arrow")

    def create_join(self, x: Value, y: Value) -> Value:
        return self.one("tt.join", [x, y], objects.tensor(x.type.scalar, [*x.type.shape, 2]), types="arrow of one")

    def create_split(self, value: Value) -> tuple[Value, ...]:
        half = objects.tensor(value.type.scalar, value.type.shape[:-1])
        return tuple(self.make("tt.split", [value], [half, half], types="arrow of one").results)

    def create_cat(self, x: Value, y: Value) -> Value:
        made = objects.tensor(x.type.scalar, [2 * x.type.shape[0], *x.type.shape[1:]])
        return self.one("tt.cat", [x, y], made, types="arrow of one")

    def create_gather(self, source: Value, index: Value, axis: int) -> Value:
        made = index.type.with_element(source.type.scalar)
        return self.one("tt.gather", [source, index], made, attrs={"axis": i32(axis)})

    def create_histogram(self, value: Value, bins: int, mask: Value | None = None) -> Value:
        operands = [value] if mask is None else [value, mask]
        return self.one("tt.histogram", operands, objects.tensor(I32, [bins]), types="arrow of one")

    # Memory.

    def create_addptr(self, pointer: Value, offset: Value) -> Value:
        return self.one("tt.addptr", [pointer, offset], pointer.type, types="listed")

    @staticmethod
    def policy(rest: Sequence[Any]) -> tuple[str, dict[str, str]]:
        """Words behind the operands of a load or store, from what stands behind them in its call."""
        words, attrs = "", {}
        for given in rest:
            if isinstance(given, tuple):  # since 3.9
                cache, eviction = given
                if cache is not CacheModifier.NONE or eviction is not EvictionPolicy.NORMAL:
                    text = f"cache_modifier = {cache.value}, eviction_policy = {eviction.value}"
                    attrs["cachePolicy"] = f"#tt.cache_policy<{text}>"
            elif isinstance(given, CacheModifier) and given is not CacheModifier.NONE:
                words += f" cacheModifier = {given.value}"
            elif isinstance(given, EvictionPolicy) and given is not EvictionPolicy.NORMAL:
                words += f" evictionPolicy = {given.value}"
            elif given is True:
                attrs["isVolatile"] = "true"
        return words, attrs

    def create_load(self, pointer: Value, *rest: Any) -> Value:
        return self.load([pointer], rest)

    def create_masked_load(self, pointer: Value, mask: Value, other: Value | None, *rest: Any) -> Value:
        return self.load([pointer, mask] if other is None else [pointer, mask, other], rest)

    def load(self, operands: list[Value], rest: Sequence[Any]) -> Value:
        words, attrs = self.policy(rest)
        return self.one("tt.load", operands, operands[0].type.pointee, tail=words, attrs=attrs, types="first")

    def create_store(self, pointer: Value, value: Value, *rest: Any) -> Operation:
        words, attrs = self.policy(rest)
        return self.make("tt.store", [pointer, value], tail=words, attrs=attrs, types="first")

    def create_masked_store(self, pointer: Value, value: Value, mask: Value, *rest: Any) -> Operation:
        words, attrs = self.policy(rest)
        return self.make("tt.store", [pointer, value, mask], tail=words, attrs=attrs, types="first")

    def create_atomic_rmw(
        self, kind: Atomic, pointer: Value, value: Value, mask: Value, order: Order, scope: Scope
    ) -> Value:
        head = f"{kind.value}, {order.value}, {scope.value}"
        return self.one("tt.atomic_rmw", [pointer, value, mask], value.type, head=head, types="function")

    def create_atomic_cas(self, pointer: Value, old: Value, new: Value, order: Order, scope: Scope) -> Value:
        head = f"{order.value}, {scope.value}"
        return self.one("tt.atomic_cas", [pointer, old, new], new.type, head=head, types="function")

    def create_atomic_load(self, pointer: Value, mask: Value, order: Order, scope: Scope) -> Value:
        head = f"{order.value}, {scope.value}"
        return self.one("tt.atomic_load", [pointer, mask], pointer.type.pointee, head=head, types="function")

    def create_atomic_store(self, pointer: Value, value: Value, mask: Value, order: Order, scope: Scope) -> Operation:
        head = f"{order.value}, {scope.value}"
        return self.make("tt.atomic_store", [pointer, value, mask], head=head, types="first")

    def create_atomic_poll(
        self, pointer: Value, expected: Value, timeout: Value | None, order: Order, scope: Scope
    ) -> Value:
        operands = [pointer, expected] if timeout is None or timeout.type is None else [pointer, expected, timeout]
        return self.one("tt.atomic_poll", operands, I1, head=f"{order.value}, {scope.value}", types="arrow")

    def create_barrier(self) -> Operation:
        return self.make("ttg.barrier", tail=" all", types="none")

    # Descriptors and block pointers, which the library lowers.

    def create_make_tensor_descriptor(
        self,
        base: Value,
        shape: Sequence[Value],
        strides: Sequence[Value],
        block: Sequence[int],
        signed: bool,
        padding: Padding = Padding.PAD_ZERO,
    ) -> Value:
        made = self.create_tensor_descriptor_type(objects.tensor(base.type.element, block), signed)
        attrs = {"padding": i32(padding.value)}
        operands = [base, *shape, *strides]
        return self.one("tt.make_tensor_descriptor", operands, made, attrs=attrs, types="function")

    def create_descriptor_load(self, descriptor: Value, offsets: Sequence[Value], *rest: Any) -> Value:
        kind = descriptor.type.element
        return self.one("tt.descriptor_load", [descriptor, *offsets], kind, types="function")

    def create_descriptor_store(self, descriptor: Value, value: Value, offsets: Sequence[Value]) -> Operation:
        return self.make("tt.descriptor_store", [descriptor, *offsets, value], types="function")

    def create_descriptor_reduce(
        self, kind: Any, descriptor: Value, value: Value, offsets: Sequence[Value]
    ) -> Operation:
        attrs = {"kind": quoted(kind.value)}
        return self.make("tt.descriptor_reduce", [descriptor, *offsets, value], attrs=attrs, types="function")

    def create_descriptor_gather(self, descriptor: Value, rows_: Value, column: Value, kind: Type) -> Value:
        return self.one("tt.descriptor_gather", [descriptor, rows_, column], kind, types="function")

    def create_descriptor_scatter(self, descriptor: Value, value: Value, rows_: Value, column: Value) -> Operation:
        return self.make("tt.descriptor_scatter", [descriptor, rows_, column, value], types="function")

    def create_make_block_ptr(
        self,
        base: Value,
        shape: Sequence[Value],
        strides: Sequence[Value],
        offsets: Sequence[Value],
        block: Sequence[int],
        order: Sequence[int],
    ) -> Value:
        made = objects.pointer(objects.tensor(base.type.element, block))
        return self.one("tt.make_tensor_ptr", [base, *shape, *strides, *offsets], made, types="function")

    def create_advance(self, pointer: Value, offsets: Sequence[Value]) -> Value:
        return self.one("tt.advance", [pointer, *offsets], pointer.type, types="function")

    def create_tensor_pointer_load(
        self, pointer: Value, boundary: Sequence[int], padding: Padding | None, *rest: Any
    ) -> Value:
        words, attrs = self.policy(rest)
        attrs["boundaryCheck"] = array(boundary)
        if padding is not None:
            attrs["padding"] = i32(padding.value)
        return self.one("tt.load", [pointer], pointer.type.element, tail=words, attrs=attrs, types="first")

    def create_tensor_pointer_store(
        self, pointer: Value, value: Value, boundary: Sequence[int], *rest: Any
    ) -> Operation:
        words, attrs = self.policy(rest)
        attrs["boundaryCheck"] = array(boundary)
        return self.make("tt.store", [pointer, value], tail=words, attrs=attrs, types="first")

    # Elements.

    def create_int_cast(self, value: Value, kind: Type, signed: bool) -> Value:
        source, width = value.type.scalar.bits, kind.scalar.bits
        if source == width:
            return value
        name = "arith.trunci" if width < source else "arith.extsi" if signed else "arith.extui"
        return self.one(name, [value], value.type.with_element(kind.scalar), types="cast")

    def create_fp_to_fp(self, value: Value, kind: Type, rounding: Rounding | None) -> Value:
        tail = "" if rounding is None else f", rounding = {rounding.value}"
        return self.one("tt.fp_to_fp", [value], kind, tail=tail, types="arrow")

    def create_select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.one("arith.select", [condition, x, y], x.type, types="select")

    def create_fma(self, x: Value, y: Value, z: Value) -> Value:
        return self.one("math.fma", [x, y, z], x.type)

    def create_clampf(self, x: Value, low: Value, high: Value, propagate: Any) -> Value:
        word = "all" if propagate == PropagateNan.ALL else "none"
        return self.one("tt.clampf", [x, low, high], x.type, tail=f", propagateNan = {word}")

    def create_dot(self, x: Value, y: Value, total: Value, precision: InputPrecision, imprecise: int) -> Value:
        tail = "" if precision is InputPrecision.IEEE else f", inputPrecision = {precision.value}"
        attrs = {"maxNumImpreciseAcc": i32(imprecise)} if imprecise else {}
        return self.one("tt.dot", [x, y, total], total.type, tail=tail, attrs=attrs, types="dot")

    def create_dot_scaled(self, *operands: Any) -> Value:
        """Refused by the library, which knows the line."""
        values = [v for v in operands if isinstance(v, Value) and v.type is not None]
        return self.one("tt.dot_scaled", values, values[-1].type, types="function")

    def create_extern_elementwise(
        self, library: str, path: str, symbol: str, operands: Sequence[Value], kind: Type, pure: bool
    ) -> Value:
        attrs = {"libname": quoted(library), "libpath": quoted(path), "pure": boolean(pure), "symbol": quoted(symbol)}
        return self.one("tt.extern_elementwise", operands, kind, attrs=attrs, types="function")

    def create_inline_asm(
        self, text: str, constraints: str, operands: Sequence[Value], kinds: Sequence[Type], pure: bool, pack: int
    ) -> Operation:
        attrs = {"constraints": quoted(constraints), "packed_element": i32(pack), "pure": boolean(pure)}
        return self.make("tt.elementwise_inline_asm", operands, kinds, head=quoted(text), attrs=attrs)

    # Reductions and maps.

    def create_reduce(self, operands: Sequence[Value], axis: int) -> Operation:
        kinds = []
        for v in operands:
            rest = [n for i, n in enumerate(v.type.shape) if i != axis]
            kinds.append(objects.tensor(v.type.scalar, rest) if rest else v.type.scalar)
        op = self.make("tt.reduce", operands, kinds, attrs={"axis": i32(axis)})
        op.add_region()
        return op

    def create_reduce_ret(self, *values: Value) -> Operation:
        return self.make("tt.reduce.return", values, types="listed")

    def create_scan(self, operands: Sequence[Value], axis: int, reverse: bool) -> Operation:
        attrs = {"axis": i32(axis), "reverse": boolean(reverse)}
        op = self.make("tt.scan", operands, [v.type for v in operands], attrs=attrs)
        op.add_region()
        return op

    def create_scan_ret(self, *values: Value) -> Operation:
        return self.make("tt.scan.return", values, types="listed")

    def create_map_elementwise(self, operands: Sequence[Value], kinds: Sequence[Type], pack: int) -> Operation:
        shaped = [operands[0].type.with_element(kind.scalar) for kind in kinds]
        op = self.make("tt.map_elementwise", operands, shaped, attrs={"pack": i32(pack)})
        op.add_region()
        return op

    def create_map_elementwise_ret(self, values: Sequence[Value]) -> Operation:
        return self.make("tt.map_elementwise.return", values, types="listed")

    # Reports and promises.

    def create_print(self, prefix: str, as_hex: bool, values: Sequence[Value], signed: Sequence[int]) -> Operation:
        attrs = {"hex": boolean(as_hex), "isSigned": array(signed)}
        return self.make("tt.print", values, head=quoted(prefix), attrs=attrs)

    def create_assert(self, condition: Value, message: str) -> Operation:
        return self.make("tt.assert", [condition], tail=f", {quoted(message)}", types="first")

    def create_assume(self, condition: Value) -> Operation:
        return self.make("llvm.intr.assume", [condition], types="first")

    def create_grid_dependency_wait(self) -> None:
        """Programs of a launch begin when those before it are done: there is nothing to wait for."""

    def create_grid_dependency_launch_dependents(self) -> None:
        """See create_grid_dependency_wait."""


def _fill() -> None:
    """Methods for the rows of the tables."""

    def binary(name: str) -> Any:
        return lambda self, x, y: self.one(name, [x, y], x.type)

    def unary(name: str) -> Any:
        return lambda self, x: self.one(name, [x], x.type)

    def cast(name: str, types: str) -> Any:
        return lambda self, x, kind: self.one(name, [x], kind, types=types)

    def compare(name: str, word: str) -> Any:
        return lambda self, x, y: self.one(name, [x, y], x.type.with_element(I1), head=word, types="first")

    def floating(name: str, bits: int) -> Any:
        return lambda self: Type(name, bits)

    for method, name in rows.BINARY.items():
        setattr(Builder, method, binary(name))
    for method, name in rows.UNARY.items():
        setattr(Builder, method, unary(name))
    for method, (name, types) in rows.CASTS.items():
        setattr(Builder, method, cast(name, types))
    for method, (name, word) in rows.COMPARISONS.items():
        setattr(Builder, method, compare(name, word))
    for method, (name, bits) in rows.FLOATS.items():
        setattr(Builder, method, floating(name, bits))


_fill()
