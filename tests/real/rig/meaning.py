"""What calls compute, as far as a captured graph and their arguments tell it, and what a fix changes of it.

Nothing here needs TTNN: `fixed_call` makes `Ran` of what TTNN captured.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from ttnn_mcp.readers.printed.nesting import split_fields
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PRODUCTS = ("Matmul", "MinimalMatmul")  # one kind of op in two programs
# arguments of device ops by their place that say how they run, not what they compute
FREE = {
    "Matmul": {1: "whether a batch is broadcast: of the shapes", 6: "a grid", 8: "whether batches run one by one"},
    "Binary": {12: "how a value is spread", 13: "whether it is a number", 26: "the shard that it writes"},
    "Conv2d": {12: "a double buffer", 13: "a double buffer", 17: "what else lies in L1"},
}
NAMED = {  # and those that a fix may name
    ("Matmul", 9): "transpose_a",
    ("Matmul", 10): "transpose_b",
    ("GroupNorm", 5): "use_welford",
    ("GridSample", 3): "use_precomputed_grid",
}
KERNEL = re.compile(r"(\w+)=([\w:]+)")
WRITTEN = {  # what the words of a fix say that it changes of the result
    "dtype": re.compile(r"dtype=|bfloat|BFLOAT|float32|FLOAT32"),
    "layout": re.compile(r"\blayout=|_LAYOUT|ROW_MAJOR|\bTILE\b|\brows\b"),
    "placement": re.compile(r"memory_config=(?!<)|\bL1\b|DRAM|SHARDED|shard|interleaved"),
}
COMPUTE = ("compute_kernel_config", "compute_config")  # compared where the call has one, as those of reports do
FOLLOWING = ("out_block_h", "out_block_w", "fused_activation", "activation")  # of others, or among the functions


@dataclass(frozen=True)
class Ran:
    """One call as TTNN ran it.

    Attributes:
        results: shape, dtype, layout and placement of each result.
        ops: name and printed arguments of each device op.
        functions: what it applies, and what it does with further operands, from its arguments.
        configs: class and fields of its configs, by the argument's name.
    """

    results: Sequence[Mapping[str, str]]
    ops: Sequence[tuple[str, str]] = ()
    functions: Sequence[str] = ()
    configs: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    @property
    def computing(self) -> list[tuple[str, str]]:
        """Its device ops that do more than move a tensor or write it in another form."""
        return [
            (canonical(name), arguments)
            for name, arguments in self.ops
            if family(name) not in ("movement", "layout") and canonical(name) != "Reshape"
        ]


LOST, ONCE_MORE = "is lost", "is applied once more"
FUNCTIONS = (LOST, ONCE_MORE)  # how a sentence on a function ends
MASK = "a mask"


def changes(op: Ran, beside: Sequence[Ran], then: Ran, fix: str) -> Iterator[str]:
    """What `then` computes otherwise than an op and those beside it, in whose place it stands; nothing that `fix` says.

    The result is compared with that of the last one.
    """
    yield from _of_results([op, *beside][-1], then, fix)
    now, after = Counter(name for one in (op, *beside) for name in one.functions), Counter(then.functions)
    lost = [name for name in (now - after).elements() if name != MASK or "attn_mask" not in fix]
    yield from (f"{name} {LOST}" for name in lost)
    yield from (f"{name} {ONCE_MORE}" for name in (after - now).elements())
    ran, runs = ([_kind(name) for name, _ in one.computing] for one in (op, then))
    further = Counter(runs) - Counter(ran) - Counter(_kind(name) for one in beside for name, _ in one.computing)
    more = [name for name in further.elements() if family(name) != "shape"]
    yield from (f"{name} runs, too" for name in more[not set(ran) & set(runs) :])
    yield from _of_configs(op, then, fix)
    yield from _of_ops(op, then, fix)


def _kind(name: str) -> str:
    return PRODUCTS[0] if name in PRODUCTS else name


def _of_results(now: Ran, then: Ran, fix: str) -> Iterator[str]:
    for one, other in zip(now.results, then.results, strict=False):
        for what in one:
            said = WRITTEN.get(what)
            if one[what] != other[what] and not (said and said.search(fix)):
                yield f"{what} of the result: {one[what]}, then {other[what]}"


def _of_configs(now: Ran, then: Ran, fix: str) -> Iterator[str]:
    """Fields that a config of the same class loses."""
    for argument, (kind, fields) in now.configs.items():
        other, given = then.configs.get(argument, ("", {}))
        for name in fields if other == kind and argument not in COMPUTE else ():
            if given.get(name) != fields[name] and f"{name}=" not in fix and name not in FOLLOWING:
                yield f"{name} of {argument}: {fields[name]}, then {given.get(name)}"


def _of_ops(now: Ran, then: Ran, fix: str) -> Iterator[str]:
    """Arguments of the device ops, where there are as many of the same kinds."""
    pairs = list(zip(now.computing, then.computing, strict=False))
    same = len(now.computing) == len(then.computing)
    for (name, arguments), (other, others) in pairs:
        if _kind(name) == _kind(other) and any(argument in now.configs for argument in COMPUTE):
            yield from _of_kernels(arguments, others, fix)
        if same and name == other:
            free = FREE.get(name, {})
            for place, (one, two) in enumerate(zip_longest(_arguments(arguments), _arguments(others))):
                said = place in free or NAMED.get((name, place), name) in fix
                if one != two and not said and not _is_elsewhere(one) and not _is_elsewhere(two):
                    yield f"argument {place} of {name}: {one}, then {two}"


def _arguments(printed: str) -> list[str]:
    return split_fields(printed.partition("(")[2].rpartition(")")[0])


def _is_elsewhere(text: str | None) -> bool:
    """Whether an argument is compared as a result or a config, or is a set of cores; a graph prints some by `<name>`."""
    return text is None or any(word in text for word in ("Config(", "DataType", "Layout::", "<", "CoreRange"))


def _of_kernels(now: str, then: str, fix: str) -> Iterator[str]:
    fields, others = (
        dict(KERNEL.findall(text.partition("ComputeKernelConfig(")[2].partition(")")[0])) for text in (now, then)
    )
    for name, text in fields.items():
        if name in others and others[name] != text and f"{name}=" not in fix:
            yield f"{name}: {text}, then {others[name]}"
