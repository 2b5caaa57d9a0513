"""The code of a fix as a block that runs when it is pasted: words as comments, lines that break between arguments."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator
from dataclasses import field

from ttnn_mcp.checks.fixes import CodeStatement, parts_of, statement_of
from ttnn_mcp.records import dataclass

INDENT = 4
KNOWN = frozenset({*dir(builtins), "ttnn", "torch"})
ARGUMENTS = {"ProgramConfig": "program_config", "Conv2dConfig": "conv_config"}  # what takes a config made alone
FIELDS = {"math_fidelity": "compute_kernel_config", "fused_activation": "program_config"}  # in no call alone
ALTERNATIVE = re.compile(r"(?:.*[;.] )?or\b[^;.]*", re.DOTALL)  # words before a code that stands for those above


def code_block(fix: str, width: int) -> list[str]:
    """A marked fix, line by line; empty where it holds no code.

    No line is longer than `width` unless one name is. What is to be filled in is told once, in front.
    """
    block = _Block(width)
    for part in parts_of(fix):
        block.lines += block.code(part.text) if part.code else block.words(part.text)
    return [*_comment(block.explained(), width), *block.lines] if block.calls else []


@dataclass(slots=True)
class _Block:
    width: int
    lines: list[str] = field(default_factory=list[str])
    calls: bool = False
    passed: list[list[str]] = field(default_factory=lambda: [[]])  # to a call, of each alternative
    left: dict[str, str] = field(default_factory=dict[str, str])  # names for what the fix leaves open
    missing: dict[str, None] = field(default_factory=dict[str, None])
    made: set[str] = field(default_factory=set[str])
    rest: bool = False
    fields: list[str] = field(default_factory=list[str])  # of a config, which no call takes

    def words(self, text: str) -> list[str]:
        """What stands between statements."""
        if self.passed[-1] and ALTERNATIVE.fullmatch(text):
            self.passed.append([])
        return _comment(text, self.width)

    def code(self, text: str) -> list[str]:
        """One statement."""
        statement = statement_of(text)
        if statement is None:  # unmoved: what is marked as code can be read
            return _comment(text, self.width)
        self.calls = True
        self.left |= statement.left
        nodes = [*ast.walk(statement.node)]
        self.rest |= any(isinstance(node, ast.Constant) and node.value is ... for node in nodes)
        names = [node for node in nodes if isinstance(node, ast.Name)]
        read = [name.id for name in names if isinstance(name.ctx, ast.Load)]
        self.missing |= dict.fromkeys(name for name in read if name not in KNOWN | self.made | self.left.keys())
        self.made |= {name.id for name in names}  # those that are read are known by now, or missing
        into, argument = _target(statement)
        if argument:
            (self.fields if argument in FIELDS else self.passed[-1]).append(argument)
        return [*_laid(statement.node.value, f"{into} = " if into else "", "", 0, self.width)]

    def explained(self) -> str:
        """What the reader has to fill in."""
        notes = [f"fill in {', '.join(sorted(self.missing))}"] if self.missing else []
        notes += [f"{name}: {words}" for name, words in self.left.items()]
        notes += ["...: the rest of your call, as it is"] if self.rest else []
        notes += [f"{name}: a field of its {FIELDS[name]}" for name in dict.fromkeys(self.fields)]
        ways = [*dict.fromkeys(tuple(dict.fromkeys(names)) for names in self.passed if names)]
        either, comma = ("either ", " and ") if len(ways) > 1 else ("", ", ")
        notes += [f"pass {either}{' or '.join(map(comma.join, ways))} to your call"] if ways else []
        return "; ".join(notes)


def _target(statement: CodeStatement) -> tuple[str | None, str | None]:
    """What a statement assigns to, and the argument that the reader passes it as."""
    node = statement.node
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]).strip("()"), statement.argument
    made = _source(node.value.func) if isinstance(node.value, ast.Call) else ""
    argument = next((name for ending, name in ARGUMENTS.items() if made.endswith(ending)), None)
    return argument, argument


def _comment(words: str, width: int) -> list[str]:
    return textwrap.wrap(
        words, width, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )


def _source(node: ast.expr) -> str:
    """Code as a person writes it."""
    text = ast.unparse(node)
    return text.replace("'", '"') if '"' not in text else text


def _laid(node: ast.expr, before: str, behind: str, indent: int, width: int) -> Iterator[str]:
    """An expression in one line, or with each argument on its own."""
    text = f"{' ' * indent}{before}{_source(node)}{behind}"
    inside = _inside(node)
    if len(text) <= width or inside is None:
        yield text
        return
    opened, parts, closed = inside
    yield f"{' ' * indent}{before}{opened}"
    for name, part in parts:
        yield from _laid(part, name, ",", indent + INDENT, width)
    yield f"{' ' * indent}{closed}{behind}"


def _inside(node: ast.expr) -> tuple[str, list[tuple[str, ast.expr]], str] | None:
    """What stands between brackets, and these; None where nothing can be divided."""
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        keywords = [(f"{one.arg}=" if one.arg else "**", one.value) for one in node.keywords]
        return f"{_source(node.func)}(", [*(("", one) for one in node.args), *keywords], ")"
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and node.elts:
        opened, closed = "()" if isinstance(node, ast.Tuple) else "[]" if isinstance(node, ast.List) else "{}"
        return opened, [("", one) for one in node.elts], closed
    return None
