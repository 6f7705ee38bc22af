"""The module as text, in the form that Triton 3.9 prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ._objects import Block, Function, Location, Module, Operation, Region, Value

RAW = "paddle_mps.raw"  # the attribute by which the library knows that no pass has run


def printed(module: Module) -> str:
    """The text of a module. Only blocks that can be reached are printed, definitions before uses."""
    return Printer().module(module)


def listed(values: Iterable[Value]) -> str:
    return ", ".join(v.real().type.text for v in values)


def results(op: Operation) -> str:
    """Types of results, in parentheses unless it is one."""
    return op.results[0].type.text if len(op.results) == 1 else f"({listed(op.results)})"


def selected(op: Operation) -> str:
    condition, kind = op.operands[0].real().type, op.results[0].type
    return kind.text if condition.shape is None else f"{condition.text}, {kind.text}"


# What stands behind the colon.
TYPES: dict[str, Callable[[Operation], str]] = {
    "same": lambda op: f" : {op.results[0].type.text}",
    "first": lambda op: f" : {op.operands[0].real().type.text}",
    "cast": lambda op: f" : {listed(op.operands)} to {op.results[0].type.text}",
    "arrow": lambda op: f" : {listed(op.operands)} -> {listed(op.results)}",
    "arrow of one": lambda op: f" : {listed(op.operands[:1])} -> {listed(op.results[:1])}",
    "function": lambda op: f" : ({listed(op.operands)}) -> {results(op)}",
    "listed": lambda op: f" : {listed(op.operands)}" if op.operands else "",
    "select": lambda op: f" : {selected(op)}",
    "dot": lambda op: f" : {listed(op.operands[:1])} * {listed(op.operands[1:2])} -> {op.results[0].type.text}",
    "none": lambda op: "",
}


def reachable(region: Region) -> list[Block]:
    """Blocks that the first one leads to, each behind those that lead to it, but for loops."""
    seen: set[int] = set()
    order: list[Block] = []
    stack: list[tuple[Block, list[Block]]] = []

    def enter(block: Block) -> None:
        seen.add(id(block))
        targets = [target for target, _ in block.ops[-1].targets] if block.ops else []
        stack.append((block, targets))

    enter(region.blocks[0])
    while stack:
        block, targets = stack[-1]
        if not targets:
            stack.pop()
            order.append(block)
        elif id(target := targets.pop()) not in seen:
            enter(target)
    return order[::-1]


def quoted(text: str) -> str:
    """A string as MLIR has it: bytes that are not printable as two hex digits."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in text.encode()) + '"'


def dictionary(attrs: dict[str, str]) -> str:
    if not attrs:
        return ""
    parts = (name if value is None or value == "unit" else f"{name} = {value}" for name, value in attrs.items())
    return " {" + ", ".join(parts) + "}"


class Printer:
    """Writes lines, and names values and locations as it goes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.used: dict[str, int] = {}
        self.locs: dict[tuple[str, int, int], str] = {}
        self.count = 0

    # Names.

    def fresh(self, wanted: str | None) -> str:
        """A name that no other value of the function has: that of the variable, with a number if it is taken."""
        base = re.sub(r"[^A-Za-z0-9_.$]", "_", wanted) if wanted else ""
        if not base or base[0].isdigit():
            self.count += 1
            return f"%{self.count - 1}"
        taken = self.used.get(base)
        self.used[base] = 0 if taken is None else taken + 1
        return f"%{base}" if taken is None else self.fresh(f"{base}_{taken}")

    def define(self, value: Value) -> str:
        name = self.names[id(value)] = self.fresh(value.name)
        return name

    def use(self, value: Value) -> str:
        return self.names[id(value.real())]

    def uses(self, values: Iterable[Value]) -> str:
        return ", ".join([self.use(v) for v in values])

    def loc(self, loc: Location | None) -> str:
        if loc is None or not loc.file:
            return ""
        key = (loc.file, loc.line, loc.column)
        return f" loc({self.locs.setdefault(key, f'#loc{len(self.locs)}')})"

    # Lines.

    def module(self, module: Module) -> str:
        from triton import __version__

        self.lines.append(f"module attributes {{{RAW} = {quoted(__version__)}}} {{")
        for function in module.functions.values():
            self.function(function)
        self.lines.append("}")
        for (file, line, column), name in self.locs.items():
            self.lines.append(f"{name} = loc({quoted(file)}:{line}:{column})")
        return "\n".join(self.lines) + "\n"

    def function(self, function: Function) -> None:
        self.names, self.used, self.count = {}, {}, 0
        params = [
            f"{self.define(v)}: {v.type.text}{dictionary(attrs)}{self.loc(v.loc)}"
            for v, attrs in zip(function.regions[0].blocks[0].args, function.arg_attrs)
        ]
        returned = function.signature.results
        arrow = ""
        if returned:
            texts = ", ".join(t.text for t in returned)
            arrow = f" -> {texts if len(returned) == 1 else f'({texts})'}"
        noinline = str(bool(function.noinline)).lower()
        self.lines.append(
            f"  tt.func {function.visibility} @{quoted(function.symbol)}({', '.join(params)}){arrow}"
            f" attributes {{noinline = {noinline}}} {{"
        )
        self.region(function.regions[0], "    ", labelled=False)
        self.lines.append(f"  }}{self.loc(function.loc)}")

    def region(self, region: Region, indent: str, labelled: bool) -> None:
        """The blocks of a region. The first one has no label unless it has arguments that stand nowhere else."""
        blocks = reachable(region)
        labels = {id(block): f"^bb{i}" for i, block in enumerate(blocks)}
        outer, self.labels = getattr(self, "labels", {}), labels
        for block in blocks:
            for argument in block.args:
                if id(argument) not in self.names:
                    self.define(argument)
        for i, block in enumerate(blocks):
            if i or (labelled and block.args):
                arguments = ", ".join(f"{self.use(a)}: {a.type.text}{self.loc(a.loc)}" for a in block.args)
                self.lines.append(f"{indent[2:]}{labels[id(block)]}{f'({arguments})' if arguments else ''}:")
            for op in block.ops:
                self.op(op, indent)
        self.labels = outer

    def bound(self, op: Operation) -> str:
        """The names of results, which are used as name#number where they are several."""
        if not op.results:
            return ""
        if len(op.results) == 1:
            return self.define(op.results[0]) + " = "
        name = self.fresh(op.results[0].name)
        for i, value in enumerate(op.results):
            self.names[id(value)] = f"{name}#{i}"
        return f"{name}:{len(op.results)} = "

    def op(self, op: Operation, indent: str) -> None:
        if op.results and all(v.instead is not None for v in op.results):
            return  # a placeholder that something else has replaced
        special = SPECIAL.get(op.name)
        if special is not None:
            special(self, op, indent)
            return
        operands = [self.use(v) for v in op.operands]
        text = ", ".join([op.head, *operands] if op.head else operands)
        self.lines.append(
            f"{indent}{self.bound(op)}{op.name}{' ' + text if text else ''}{op.tail}{dictionary(op.attrs)}"
            f"{TYPES[op.types](op)}{self.loc(op.loc)}"
        )

    def close(self, op: Operation, indent: str, attrs: str = "") -> None:
        self.lines.append(f"{indent}}}{attrs}{self.loc(op.loc)}")


def _constant(p: Printer, op: Operation, indent: str) -> None:
    kind = op.results[0].type
    value = op.head if kind.shape is None else f"dense<{op.head}>"
    colon = "" if kind.text == "i1" else f" : {kind.text}"
    p.lines.append(f"{indent}{p.bound(op)}arith.constant {value}{colon}{p.loc(op.loc)}")


def _print(p: Printer, op: Operation, indent: str) -> None:
    operands = f" : {p.uses(op.operands)}{TYPES['listed'](op)}" if op.operands else ""
    p.lines.append(f"{indent}tt.print {op.head}{dictionary(op.attrs)}{operands}{p.loc(op.loc)}")


def _call(p: Printer, op: Operation, indent: str) -> None:
    operands = p.uses(op.operands)
    p.lines.append(f"{indent}{p.bound(op)}tt.call @{op.head}({operands}){TYPES['function'](op)}{p.loc(op.loc)}")


def _gather(p: Printer, op: Operation, indent: str) -> None:
    source, index = (p.use(v) for v in op.operands)
    types = TYPES["function"](op)
    p.lines.append(f"{indent}{p.bound(op)}tt.gather {source}[{index}]{dictionary(op.attrs)}{types}{p.loc(op.loc)}")


def _assembly(p: Printer, op: Operation, indent: str) -> None:
    types = f" : {listed(op.operands)} -> {listed(op.results)}"
    text = f"tt.elementwise_inline_asm {op.head}{dictionary(op.attrs)} {p.uses(op.operands)}{types}"
    p.lines.append(f"{indent}{p.bound(op)}{text}{p.loc(op.loc)}")


def _branch(p: Printer, op: Operation, indent: str) -> None:
    parts = [p.use(v) for v in op.operands]
    for block, values in op.targets:
        given = f"({p.uses(values)} : {listed(values)})" if values else ""
        parts.append(p.labels[id(block)] + given)
    p.lines.append(f"{indent}{op.name} {', '.join(parts)}{p.loc(op.loc)}")


def _for(p: Printer, op: Operation, indent: str) -> None:
    body = op.regions[0].blocks[0]
    low, high, step, *initial = [p.use(v) for v in op.operands]
    index, *carried = [p.define(v) for v in body.args]
    text = f"{indent}{p.bound(op)}scf.for {index} = {low} to {high} step {step}"
    if carried:
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, initial))
        text += f" iter_args({pairs}) -> ({listed(op.results)})"
    p.lines.append(f"{text}  : {body.args[0].type.text} {{")
    p.region(op.regions[0], indent + "  ", labelled=False)
    p.close(op, indent, dictionary(op.attrs))


def _if(p: Printer, op: Operation, indent: str) -> None:
    arrow = f" -> ({listed(op.results)})" if op.results else ""
    condition = p.use(op.operands[0])
    p.lines.append(f"{indent}{p.bound(op)}scf.if {condition}{arrow} {{")
    p.region(op.regions[0], indent + "  ", labelled=False)
    if len(op.regions) > 1 and (op.results or op.regions[1].blocks[0].ops):
        p.lines.append(f"{indent}}} else {{")
        p.region(op.regions[1], indent + "  ", labelled=False)
    p.close(op, indent, dictionary(op.attrs))


def _while(p: Printer, op: Operation, indent: str) -> None:
    before, after = (region.blocks[0] for region in op.regions)
    pairs = ", ".join(f"{p.define(a)} = {p.use(v)}" for a, v in zip(before.args, op.operands))
    kinds = f"({listed(op.operands)}) -> {results(op)}"
    text = f"{indent}{p.bound(op)}scf.while{f' ({pairs})' if pairs else ''} : {kinds} {{"
    p.lines.append(text)
    p.region(op.regions[0], indent + "  ", labelled=False)
    p.lines.append(f"{indent}}} do {{")
    p.region(op.regions[1], indent + "  ", labelled=bool(after.args))
    p.close(op, indent, f" attributes{dictionary(op.attrs)}" if op.attrs else "")


def _condition(p: Printer, op: Operation, indent: str) -> None:
    condition, *values = op.operands
    given = f" {p.uses(values)} : {listed(values)}" if values else ""
    p.lines.append(f"{indent}scf.condition({p.use(condition)}){given}{p.loc(op.loc)}")


def _generic(p: Printer, op: Operation, indent: str) -> None:
    """MLIR's generic form, with the region between properties and types."""
    operands = p.uses(op.operands)
    names = p.bound(op)
    p.lines.append(f'{indent}{names}"{op.name}"({operands}) <{dictionary(op.attrs).strip()}> ({{')
    p.region(op.regions[0], indent + "  ", labelled=True)
    p.lines.append(f"{indent}}}) : ({listed(op.operands)}) -> {results(op)}{p.loc(op.loc)}")


SPECIAL: dict[str, Callable[[Printer, Operation, str], None]] = {
    "arith.constant": _constant,
    "tt.print": _print,
    "tt.call": _call,
    "tt.gather": _gather,
    "tt.elementwise_inline_asm": _assembly,
    "cf.br": _branch,
    "cf.cond_br": _branch,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.condition": _condition,
    "tt.reduce": _generic,
    "tt.scan": _generic,
    "tt.map_elementwise": _generic,
}
