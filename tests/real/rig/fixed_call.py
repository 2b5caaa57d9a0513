"""The calls that a fix stands for and the calls that it replaces, each run dry, so that `meaning` compares what they compute.

A fix is taken at its word: a call keeps of the op's own arguments what an ellipsis or the words name, an argument alone
takes its place in the op's own call.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.real.rig.coverage import NOT_JUDGED, OTHER_FUNCTIONS
from tests.real.rig.devices import first_line
from tests.real.rig.examples import Examples
from tests.real.rig.meaning import FUNCTIONS, Ran, changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.real.rig.fixed_op import Ops

JUDGED = ("meant", "other", "unjudged", "untold")  # what may become of a part of a fix
PRODUCTS = ("ttnn.linear", "ttnn.matmul", "ttnn.experimental.minimal_matmul")
ALIKE = {  # names of one argument in the three calls of a product
    "bias": "bias_tensor",
    "program_config": "config",
    "activation": "fused_activation",
}
ARGUMENTS = (  # that a fix gives alone; `math_fidelity` is a field of one
    "program_config", "compute_kernel_config", "compute_config", "memory_config", "core_grid", "config", "conv_config",
    "slice_config", "dtype",
)  # fmt: skip
OF_CONV = ("ttnn.conv2d",)
OF_CONV_ALONE = ("conv_config", "slice_config", "compute_config")
CHOSEN = {"core_grid": ("program_config",), "program_config": ("core_grid",)}  # TTNN takes one of them
MADE = ("ttnn.from_torch",)
INSTEAD = (  # one op in the place of others, whose result alone is compared
    "ttnn.rms_norm", "ttnn.layer_norm", "ttnn.softmax", "ttnn.gelu", "ttnn.topk", "ttnn.experimental.rotary_embedding",
    "ttnn.experimental.rotary_embedding_hf", "ttnn.experimental.rotary_embedding_llama",
)  # fmt: skip
BY_SLICES = "and the slices"  # what a fix of a sort replaces beside it
TILE, CORNERS = 32, 6  # rows of a tile; numbers for each point of a grid_sample that are prepared
OPERANDS = {  # which operand a name of a fix is
    **dict.fromkeys(("x", "a", "q", "qkv", "xqkv", "logits", "cache", "input"), 0),
    **dict.fromkeys(("w", "b", "k", "y", "cos"), 1),
    **dict.fromkeys(("v", "sin"), 2),
    "trans_mat": 3,
}
BESIDE = ("row", "scale", "shift", "bias", "mask")  # names of what a dropped op reads beside a result
READ = {  # what an operand of a call does, where another op may do it before or behind
    "bias": "ADD",
    "bias_tensor": "ADD",
    "residual_input_tensor": "ADD",
    "weight": "MUL",
    "attn_mask": "a mask",
}
BINARY = {
    "ttnn.add": "ADD",
    "ttnn.multiply": "MUL",
    "ttnn.mul": "MUL",
    "ttnn.subtract": "SUB",
    "ttnn.divide": "DIV",
}
CONFIG = re.compile(r"(?!MemoryConfig)\w*Config\(")
FUNCTION = re.compile(r"op_type=UnaryOpType::(\w+)(?:, params=\[([^\]]*)\])?")
# the function that a name or a missing number stands for (string_to_unary_with_param of tt-metal)
STANDS_FOR = {"GELU": "GELU(0)", "gelu": "GELU(1)"}
BEHIND = "without the op of its activation behind it"
KEPT = re.compile(r"keep ((?:\w+(?:, | and )?)+)|((?:\w+, )*\w+) as now")
WHOLE = re.compile(r"(rest|all else|other arguments) as now|, \.\.\.\)|\*\*REST")
DROPPED = re.compile(r"(?:without|drop|no|not) (?:the )?(?:ops?|ttnn\.\w+) at lines? (\d+)(?: and (\d+))?")
SPAN = re.compile(r"in place of the ops from line (\d+) to (\d+)")
STRUCT = re.compile(r"(\w+)=((?:[^,()\[\]{}]|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})*)")


@dataclass(frozen=True)
class Call:
    """A call of TTNN with its values."""

    function: str
    positional: list[Any]
    named: dict[str, Any]

    def ran(self, ttnn: Any) -> Ran:
        """What it does, asked dry.

        Raises:
            RuntimeError, TypeError: TTNN refuses it.
        """
        function = ttnn
        for part in self.function.split(".")[1:]:
            function = getattr(function, part)
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
        try:
            result = function(*self.positional, **self.named)
        finally:
            graph = ttnn.graph.end_graph_capture()
        results = [one for one in _flat(result) if isinstance(one, ttnn.Tensor)]
        ops = [
            (node["params"]["name"], node["arguments"][0])
            for node in graph
            if node["node_type"] == "function_start" and "program_factory_type" in node["params"]
        ]
        configs = {name: _struct(value) for name, value in self.named.items() if CONFIG.match(repr(value))}
        return Ran([_told(one) for one in results], ops, [*self.functions(ttnn)], configs)

    def functions(self, ttnn: Any) -> Iterator[str]:
        """What it applies, as its arguments say."""
        if self.function in BINARY:
            yield BINARY[self.function]
        yield from (READ[name] for name, value in self.named.items() if name in READ and value is not None)
        for value in (*self.positional, *self.named.values()):
            if not isinstance(value, ttnn.Tensor):
                yield from (_function(*one) for one in FUNCTION.findall(repr(value)))
        if isinstance(told := self.named.get("activation"), str):
            yield STANDS_FOR.get(told, told.upper())
        for one in _flat([value for name, value in self.named.items() if "activation" in name]):
            if isinstance(one, ttnn.UnaryOpType):
                yield _function(one.name, "")


def _function(name: str, numbers: str) -> str:
    return f"{name}({numbers})" if numbers else STANDS_FOR.get(name, name)


def _flat(value: Any) -> list[Any]:
    return [one for some in value for one in _flat(some)] if isinstance(value, (list, tuple)) else [value]


def _told(tensor: Any) -> dict[str, str]:
    place = tensor.memory_config()
    return {
        "shape": str(list(tensor.shape)),
        "dtype": tensor.dtype.name,
        "layout": tensor.layout.name,
        "placement": f"{place.buffer_type.name} {place.memory_layout.name}",
    }


def _struct(value: Any) -> tuple[str, dict[str, str]]:
    kind, _, fields = repr(value).partition("(")
    return kind, dict(STRUCT.findall(fields.rpartition(")")[0]))


@dataclass
class Fixed:
    """A fix beside the ops that it speaks of."""

    ops: Ops
    made: dict[str, list[Any]] = field(default_factory=dict)

    def judged(self) -> dict[str, list[str]]:
        """What each part of the fix changes, and why others are not judged."""
        outcome: dict[str, list[str]] = {how: [] for how in JUDGED}
        for part in self._parts():
            text = "; ".join(map(ast.unparse, part))
            try:
                told = self._judged(part)
            except Unjudged as why:
                outcome["untold" if isinstance(why, Untold) else "unjudged"].append(f"{text}: {why}")
                continue
            except (RuntimeError, TypeError) as raised:
                told = [f"refused as it stands: {first_line(raised)}"]
            outcome["other" if told else "meant"].append(f"{text}: {'; '.join(told)}")
        return outcome

    def _parts(self) -> list[list[ast.stmt]]:
        """Its statements; arguments that are given together are one part, those behind an 'or' another."""
        parts: list[list[ast.stmt]] = []
        for statement in ast.parse(self.ops.job["pasted"]).body:
            name = _target(statement)
            instead = re.search(rf"\bor (?:no config and )?{name}=", self.ops.job["fix"])
            together = parts and name in ARGUMENTS and _target(parts[-1][0]) in ARGUMENTS and not instead
            if together:
                parts[-1].append(statement)
            else:
                parts.append([statement])
        return parts

    def _judged(self, part: list[ast.stmt]) -> list[str]:
        value, target = _value(part[0]), _target(part[0])
        name = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        if target.isidentifier() and target not in ARGUMENTS and name in MADE:
            return self._made(target, value)
        if name in INSTEAD and not self._lines(name, target):
            return self._instead(_value(part[0]))
        base = self._base(name, target)
        if any(one["layout"] == "TILE" and one["padded"][-2] % TILE for one in self.ops.job["inputs"]):
            raise Untold("its tiles are less high")
        op, now = self._standing(self.profiled(base))
        beside = {line: self._standing(self.profiled(line))[1] for line in self._replaced(base, now)}
        before = [ran for line, ran in beside.items() if int(line) < int(base)]
        behind = [ran for line, ran in beside.items() if int(line) > int(base)]
        call = op
        for statement in part:
            if target in ARGUMENTS:
                call = self.argument(call, _target(statement), _value(statement))
            else:
                call = self.called(call, _value(statement))
        then = self.placed(call).ran(self.ops.ttnn)
        last = behind or [replace(now, ops=(), functions=())]  # of which the result is compared
        viewed = [
            {**now.results[0], "dtype": one["dtype"]} for one in last[-1].results
        ]  # views and moves lie between
        last[-1] = replace(last[-1], results=viewed if self._views(base, beside) else last[-1].results)
        told = changes(now, [*before, *last], then, self.ops.job["fix"])
        return [one for one in told if not (self.ops.job["check"] in OTHER_FUNCTIONS and one.endswith(FUNCTIONS))]

    def _views(self, base: str, beside: dict[str, Ran]) -> bool:
        """Whether an op behind reads what the op writes in another shape."""
        told = self.ops.job["profiled"]
        written = told[base]["outputs"][0]["logical"]
        return any(int(line) > int(base) and told[line]["inputs"][0]["logical"] != written for line in beside)

    def _made(self, name: str, value: ast.expr) -> list[str]:
        """Weights in another type: the op reads them; else a tensor that a later statement reads."""
        op = self.profiled(self._own)
        dtype = (
            [word.value for word in value.keywords if word.arg == "dtype"] if isinstance(value, ast.Call) else []
        )
        if name != "w" or not dtype or op.function not in PRODUCTS:
            raise Untold("a tensor of another kind")
        weights = self.ops.ttnn.typecast(op.positional[1], self.plain(dtype[0]))
        then = replace(op, positional=[op.positional[0], weights, *op.positional[2:]])
        return list(changes(self._standing(op)[1], [], then.ran(self.ops.ttnn), ""))

    def _instead(self, node: ast.expr) -> list[str]:
        """A call that stands for ops of other kinds: its result against that of the last of them."""
        lines = sorted({self._own, *self._dropped()}, key=int)
        told = self.ops.job["profiled"]
        cut = [line for line, one in told.items() if one["name"] == "Slice" and int(line) > int(self._own)]
        lines += sorted(cut, key=int)[:1] if BY_SLICES in self.ops.job["fix"] else []
        first = replace(self.ops, job={**self.ops.job, "inputs": told[lines[0]]["inputs"]})
        names = first.tensors(Examples(first.ttnn, first.device))
        if not isinstance(node, ast.Call) or any(
            map(_is_left, [*node.args, *(one.value for one in node.keywords)])
        ):
            raise Untold("arguments that are told in words")
        given = {"ttnn": first.ttnn, "device": first.device}
        try:
            result = eval(compile(ast.Expression(node), "fix", "eval"), given, names)  # noqa: S307 - ours
        except (KeyError, NameError) as name:
            raise Untold(f"an operand: {name}") from name
        last = told[lines[-1]]["outputs"][:1]
        results = [{"shape": str(one["logical"]), "dtype": one["dtype"], "layout": one["layout"]} for one in last]
        then = [_told(one) for one in _flat(result)[:1]]
        return list(changes(Ran(results), [], Ran(then), self.ops.job["fix"]))

    @property
    def _own(self) -> str:
        return str(self.ops.job["line"])

    def _standing(self, call: Call) -> tuple[Call, Ran]:
        """An op and what it does; without its config where a report of a test tells one that TTNN refuses."""
        as_it_was = replace(self.ops, job={**self.ops.job, "fix": f"on {self.ops.job['cores']} cores"})
        try:
            call = self._in_banks(call, as_it_was)
            return call, call.ran(self.ops.ttnn)
        except (RuntimeError, TypeError) as raised:
            named = {name: given for name, given in call.named.items() if name != "program_config"}
            if named == call.named:
                raise Untold(f"the op as profiled: {first_line(raised)}") from raised
            plain, ran = self._standing(replace(call, named=named))
            return plain, replace(ran, functions=list(call.functions(self.ops.ttnn)))

    def _in_banks(self, call: Call, ops: Ops) -> Call:
        """With operands and a result where a DRAM-sharded config wants them."""
        config, result = call.named.get("program_config"), call.named.get("memory_config")
        if "DRAMSharded" not in type(config).__name__:
            return call
        named = (
            call.named
            if result and result.is_sharded()
            else {**call.named, "memory_config": self.ops.ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG}
        )
        return Call(call.function, [*ops.streamed(config), *call.positional[2:]], named)

    def _lines(self, name: str, target: str) -> list[str]:
        """Lines of ops whose call a statement is, or stands in; the one that the fix is given for first."""
        told, alike = self.ops.job["profiled"], PRODUCTS if name in PRODUCTS else (name,)
        if target in ARGUMENTS:
            alike = OF_CONV if target in OF_CONV_ALONE else (told[self._own].get("function"),)
        lines = [line for line, one in told.items() if one.get("function") in alike]
        if target != "dtype":
            return lines
        typed = [
            line for line, one in told.items() if "dtype" in one.get("named", {}) and int(line) < int(self._own)
        ]
        writer = sorted(typed, key=int)[-1:] if self.ops.job["fix"].startswith("give ") else []
        return writer or [line for line in lines[:1] if "dtype" in told[line].get("named", {})]

    def _base(self, name: str, target: str) -> str:
        """The line of the op whose call the statement is, or stands in."""
        lines = self._lines(name, target)
        if lines:
            return lines[0]
        refused = self.ops.job["profiled"][self._own].get("refused")
        if refused:
            raise Untold(refused)
        if (
            name in NOT_JUDGED
            or (target in ARGUMENTS and not name.startswith("ttnn.Matmul"))
            or not name.startswith("ttnn.")
        ):
            raise Untold("no op")
        raise Unjudged(f"no op of {name or target}")

    def _replaced(self, base: str, now: Ran) -> list[str]:
        """Lines of other ops that the fix stands for: the op that it is given for, and those that its words drop."""
        told = self.ops.job["profiled"]
        lines = {self._own, *self._dropped()} - {base}
        if BEHIND in self.ops.job["fix"]:
            lines |= {line for line, one in told.items() if one["name"] == "Unary" and int(line) > int(base)}
            lines = set(sorted(lines, key=int)[:1])
        apart = any(name == "Unary" for name, _ in now.computing)  # a function of its call that TTNN runs as an op
        return sorted((line for line in lines if not (apart and told[line]["name"] == "Unary")), key=int)

    def _dropped(self) -> list[str]:
        fix, told = self.ops.job["fix"], self.ops.job["profiled"]
        lines = [line for pair in DROPPED.findall(fix) for line in pair if line]
        lines += [str(line) for start, end in SPAN.findall(fix) for line in range(int(start), int(end) + 1)]
        return [line for line in lines if line in told]

    def profiled(self, line: str) -> Call:
        """The call at a line, as its report tells it."""
        told = self.ops.job["profiled"][line]
        if "refused" in told:
            raise Untold(told["refused"])
        if told["on_mesh"]:
            raise Untold("a collective")
        names = {"ttnn": self.ops.ttnn, "device": self.ops.device, "s": {}, "x": self._operands(line)}
        try:
            positional = [eval(text, names) for text in told["positional"]]  # noqa: S307 - ours
            named = {name: eval(text, names) for name, text in told["named"].items()}  # noqa: S307 - ours
        except (AttributeError, IndexError, TypeError) as raised:
            raise Untold(f"its arguments: {first_line(raised)}") from raised
        return Call(
            told["function"], positional, {name: value for name, value in named.items() if value is not None}
        )

    def _operands(self, line: str) -> list[Any]:
        if line not in self.made:
            try:
                self.made[line] = [self._tensor(one) for one in self.ops.job["profiled"][line]["operands"]]
            except (RuntimeError, TypeError) as raised:
                raise Untold(f"its operands: {first_line(raised)}") from raised
        return self.made[line]

    def _tensor(self, one: dict[str, Any]) -> Any:
        ttnn, device = self.ops.ttnn, self.ops.device
        names = {"ttnn": ttnn, "device": device, "s": {}}
        dtype, layout = (eval(one[what], names) for what in ("dtype", "layout"))  # noqa: S307 - ours
        where = {"device": device, "memory_config": eval(one["memory"], names)} if one["memory"] else {}  # noqa: S307 - ours
        return ttnn.zeros(one["shape"], dtype=dtype, layout=layout, **where)

    def argument(self, call: Call, name: str, value: ast.expr) -> Call:
        """The op's own call with one argument changed."""
        if _is_left(value):  # it stays
            return call
        fix = self.ops.job["fix"]
        named = {key: given for key, given in call.named.items() if key not in CHOSEN.get(name, ())}
        words = fix.partition("; or ")[0] if name == "program_config" else ""
        named = {key: given for key, given in named.items() if f"drop {key}=" not in words}
        function = call.function
        given = self.value(value, call, name)
        if name == "program_config" and function == PRODUCTS[2]:
            function, kept = PRODUCTS[0], self.kept(named)
            named = {_in(function, key): given for key, given in named.items() if key in kept}
        if name in ("compute_kernel_config", "compute_config"):
            name = "compute_config" if function in OF_CONV else "compute_kernel_config"
        if name == "conv_config":
            given = self._merged(call.named[name], value)
        return Call(function, call.positional, {**named, name: given})

    def _merged(self, now: Any, value: ast.expr) -> Any:
        """A config with the fields of a fix; a function that it does not name is none."""
        fields = {name: getattr(now, name) for name in dir(now) if not name.startswith("_")}
        words = value.keywords if isinstance(value, ast.Call) else []
        given = {
            str(word.arg): getattr(now, str(word.arg)) if _is_left(word.value) else self.plain(word.value)
            for word in words
        }
        return type(now)(**{**fields, "activation": None, **given})

    def plain(self, node: ast.expr) -> Any:
        """A value without operands."""
        names = {"ttnn": self.ops.ttnn, "device": self.ops.device}
        return eval(compile(ast.Expression(node), "fix", "eval"), names)  # noqa: S307 - ours

    def called(self, call: Call, node: ast.expr) -> Call:
        """The call of the fix, with what it keeps of the op's own."""
        if not isinstance(node, ast.Call):
            raise Untold("no call")
        function = ast.unparse(node.func)
        words = [word for word in node.keywords if word.arg and not _is_left(word.value)]
        words = [word for word in words if ast.unparse(word.value) != "bias" or self._biased(call)]
        named = {str(word.arg): self.value(word.value, call, str(word.arg)) for word in words}
        as_now = {str(word.arg) for word in node.keywords if word.arg and _is_left(word.value)}
        left = any(_is_left(one) for one in node.args) or any(word.arg is None for word in node.keywords)
        kept = set(call.named) if left or WHOLE.search(self.ops.job["fix"]) else self.kept(call.named) | as_now
        kept -= {one for name in named for one in CHOSEN.get(name, ())}
        own = {
            _in(function, name): given for name, given in call.named.items() if {name, _in(function, name)} & kept
        }
        if function != call.function:  # a config of another kind of op
            own.pop("program_config", None)
            own.pop("config", None)
        plain = [one for one in node.args if not _is_left(one)]
        positional = [self.positional(place, one, call) for place, one in enumerate(plain)]
        if left or not plain:
            positional += call.positional[len(positional) :]
        return Call(function, positional, {**own, **named})

    @staticmethod
    def _biased(call: Call) -> bool:
        return bool({"bias", "bias_tensor"} & set(call.named))

    def positional(self, place: int, node: ast.expr, call: Call) -> Any:
        """An operand in front: that of the op at this place, where the fix does not name one of another op."""
        given = call.positional[place] if place < len(call.positional) else None
        plain = isinstance(node, ast.Name) and node.id in OPERANDS and not self._of_other(node.id, call)
        return given if plain and isinstance(given, self.ops.ttnn.Tensor) else self.value(node, call, "")

    def _of_other(self, name: str, call: Call) -> list[Any]:
        """The operand of a binary op that the fix puts into another one."""
        told = self.ops.job["profiled"]
        for line in (self._own, *self._dropped()):
            if name in ("a", "b") and told[line].get("function") in BINARY and call.function not in BINARY:
                return self._operands(line)["ab".index(name) :][:1]
        return []

    def kept(self, named: dict[str, Any]) -> set[str]:
        """Arguments that stay, as the words say."""
        words = " ".join(one or other for one, other in KEPT.findall(self.ops.job["fix"]))
        stay = {*re.findall(r"\w+", words), *re.findall(r"(\w+)=<as now>", self.ops.job["fix"])}
        return {name for name in named if {name, ALIKE.get(name, name), _in(PRODUCTS[0], name)} & stay}

    def value(self, node: ast.expr, call: Call, argument: str) -> Any:
        """The value of an argument."""
        for known in (argument, _in(call.function, argument)):
            if isinstance(node, ast.Name) and known in call.named:
                return call.named[known]
        if any(isinstance(one, ast.Constant) and one.value is ... for one in ast.walk(node)):
            raise Untold("fields that are told in words")
        names = {
            "ttnn": self.ops.ttnn,
            "device": self.ops.device,
            "g": self.ops.device.compute_with_storage_grid_size(),
        }
        names |= {"inf": float("inf")}
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {*names, "float"}
        if "AS_NOW" in used:  # a field of a config that stays
            names["AS_NOW"] = getattr(call.named.get(argument), "fused_activation", None)
            used -= {"AS_NOW"}
        for name in used:
            names[name] = self.operand(name, call)
        return eval(compile(ast.Expression(node), "fix", "eval"), names)  # noqa: S307 - ours

    def operand(self, name: str, call: Call) -> Any:
        """An operand of the op, or that of an op which the fix drops."""
        for other in self._of_other(name, call):
            return other
        if name == "points":
            shape = re.search(r"reshape\(points, (\[[^\]]*\])", self.ops.job["fix"])
            sides = list(call.positional[1].shape)[:3]
            given = ast.literal_eval(shape[1]) if shape else [*sides, CORNERS]
            ttnn = self.ops.ttnn
            return ttnn.zeros(given, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=self.ops.device)
        tensors = [one for one in (*call.positional, *call.named.values()) if isinstance(one, self.ops.ttnn.Tensor)]
        number = OPERANDS.get(name)
        if number is not None and number < len(tensors):
            return tensors[number]
        others = [one for line in (self._own, *self._dropped()) for one in self._operands(line) if name in BESIDE]
        if others:
            return min(others, key=lambda one: one.volume())
        raise Untold(f"nobody tells {name}")

    def _interleaved(self, call: Call) -> Any:
        w = call.positional[1]
        if w.memory_config().memory_layout == self.ops.ttnn.TensorMemoryLayout.INTERLEAVED:
            return w
        return self.ops.ttnn.zeros(w.shape, dtype=w.dtype, layout=w.layout, device=self.ops.device)

    def placed(self, call: Call) -> Call:
        """With operands where the words of the fix want them."""
        ops, fix = self.ops, self.ops.job["fix"]
        config = call.named.get("program_config")
        kind = type(config).__name__
        on = re.search(r"x on (\d+) cores", fix)
        call = self._in_banks(call, ops)
        positional = list(call.positional)
        if "DRAMSharded" not in kind and "w interleaved" in fix:
            positional[1] = self._interleaved(call)
        if "MultiCast1D" in kind and on:
            positional[0] = ops.spread(positional[0], int(on[1]))
        if kind == "LayerNormShardedMultiCoreProgramConfig" and (shards := ops.shards_of_norm(config)):
            positional[0] = ops.ttnn.to_memory_config(positional[0], shards)
            named = {**call.named, "memory_config": shards}
            if "residual_input_tensor" in named and "residual" in fix:
                named["residual_input_tensor"] = positional[0]
            return Call(call.function, positional, named)
        return Call(call.function, positional, call.named)


class Unjudged(Exception):  # noqa: N818 - the caller tells it
    """Why a part of a fix is not judged though it may change an op."""


class Untold(Unjudged):
    """What nobody can judge: a report or the words tell too little, or no op computes."""


def _target(statement: ast.stmt) -> str:
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _value(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, (ast.Assign, ast.Expr)):
        return statement.value
    raise Untold("no call")


def _is_left(node: ast.expr) -> bool:
    """An ellipsis, or `<as now>` as a whole argument."""
    return (isinstance(node, ast.Constant) and node.value is ...) or (
        isinstance(node, ast.Name) and node.id.isupper()
    )


def _in(function: str, name: str) -> str:
    """What an argument of a product is called by this function."""
    names = ALIKE if function == PRODUCTS[2] else {other: one for one, other in ALIKE.items()}
    return names.get(name, name) if function in PRODUCTS else name
