"""What crosses the wire: frozen, closed models. Every number carries its unit in its name.

`Us`, `Ms`, `Share`, `Gbps` round on the way out and nowhere else: answers stay short, arithmetic exact.
`Table` is columnar (`{columns, rows}`): half the tokens of a list of objects. `Columns` names what stands in it, once,
beside the answer's field: the contract shows the names, and a table with others fails.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
)

from ttnn_mcp.quoting import ABSURD
from ttnn_mcp.records import dataclass

Cell: TypeAlias = str | int | float | bool | None
Rounded: TypeAlias = float | int | None

# Text of a profile is data, and the contract says where it stands. `description` is the one annotation that every
# validator of JSON Schemas accepts; answers do not grow by it.
QUOTED = "quoted"
QUOTING = "may quote"
Quoted = Annotated[str, Field(description=QUOTED)]  # a name, path or cell of a profile
Quoting = Annotated[str, Field(description=QUOTING)]  # a sentence of ours that may name something of a profile
QuotedCell: TypeAlias = Quoted | int | float | bool | None


def rounded(value: float, decimals: int) -> Rounded:
    """`value` to `decimals`; whole numbers as integers; what is not finite (not measured), or absurd, as None."""
    if not abs(value) < ABSURD:
        return None
    short = round(value, decimals)
    return int(short) if short == int(short) else short


def _to(decimals: int) -> PlainSerializer:
    return PlainSerializer(lambda value: rounded(value, decimals), return_type=Rounded)


Us = Annotated[float, _to(2)]  # microseconds
Ms = Annotated[float, _to(3)]  # milliseconds
Share = Annotated[float, _to(4)]  # 0..1
Ratio = Annotated[float, _to(4)]  # of two times: the slowest device over the mean
Gbps = Annotated[float, _to(1)]  # gigabytes (1e9) per second
Ghz = Annotated[float, _to(3)]
Pcc = Annotated[float, _to(6)]  # Pearson correlation, -1..1

Status = Literal["found", "clean", "not_applicable", "cannot_tell"]
WindowKind = Literal["iteration", "signposts", "whole_report"]


def compact(plain: object) -> str:
    """JSON without a byte to spare, as assistants that show structured answers print it."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def bytes_of(plain: object) -> int:
    """What plain JSON values take on the wire."""
    return len(compact(plain).encode(errors="replace"))  # what cannot be encoded is replaced where it leaves


class Wire(BaseModel):
    """Base of all that crosses the wire: immutable and closed.

    A field without a default is always sent; one with a default only where it says something.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # built when first asked

    def spoken(self) -> dict[str, Any]:
        """Plain JSON values; left out is what says nothing: a field with its default, and a number that is none."""
        plain, fields = self.model_dump(mode="json", exclude_defaults=True), type(self).model_fields
        return {
            name: value for name, value in plain.items() if value is not None or fields[name].default is not None
        }


class Table(Wire):
    """Rows under named columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, *columns: str, rows: Sequence[tuple[Cell, ...]]) -> Table:
        """A table whose floats are rounded by their column's unit suffix."""
        places = [_decimals(column) for column in columns]
        return cls(
            columns=columns,
            rows=tuple(
                tuple(
                    rounded(cell, place) if isinstance(cell, float) else cell
                    for cell, place in zip(row, places, strict=True)
                )
                for row in rows
            ),
        )

    def within(self, room: int) -> Table:
        """As many of the first rows as take `room` bytes of compact JSON; at least one."""
        for count, row in enumerate(self.rows):
            room -= bytes_of(row) + 1
            if room < 0 and count:
                return self.model_copy(update={"rows": self.rows[:count]})
        return self


@dataclass(frozen=True, slots=True, init=False)
class Columns:
    """What a table's columns are called: `moves: Annotated[Table, MOVES]` in an answer, `MOVES.table(rows)` to fill it.

    Attributes:
        names: all of them, in order.
        maybe: those among them that some answers do without.
        quoted: those among them that hold text of the profile.
    """

    names: tuple[str, ...]
    maybe: frozenset[str]
    quoted: tuple[str, ...]

    def __init__(self, *names: str, maybe: Sequence[str] = (), quoted: Sequence[str] = ()) -> None:
        """Columns called `names`; those in `maybe` are not in every answer."""
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "maybe", frozenset(maybe))
        object.__setattr__(self, "quoted", tuple(name for name in names if name in quoted))

    def table(self, rows: Sequence[tuple[Cell, ...]], without: Sequence[str] = ()) -> Table:
        """A table of all columns but `without`, its floats rounded by their column's unit."""
        return Table.of(*(name for name in self.names if name not in without), rows=rows)

    def exact(self, rows: Sequence[tuple[Cell, ...]]) -> Table:
        """A table of all columns whose cells are sent as they are."""
        return Table(columns=self.names, rows=tuple(rows))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return AfterValidator(self._checked).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        names = {"items": {"enum": [*self.names]}} if self.maybe else {"const": [*self.names]}
        quoted = {"type": "array", "description": f"{QUOTED}: {', '.join(self.quoted)}"}
        return {**handler(core), "properties": {"columns": names, **({"rows": quoted} if self.quoted else {})}}

    def _checked(self, table: Table) -> Table:
        left_out = set(self.names) - set(table.columns)
        if table.columns != tuple(name for name in self.names if name not in left_out) or left_out - self.maybe:
            raise ValueError(f"the answer's field declares the columns {self.names}, the table has {table.columns}")
        return table


def _decimals(column: str) -> int:
    if column.endswith("share") or column in ("busy", "efficiency", "imbalance", "waste"):
        return 4
    return 3 if column.endswith("_ms") else 2


class Window(Wire):
    """The rows an answer speaks of, why these, and what among them contradicts itself."""

    kind: WindowKind
    rows: int
    first_row: int
    last_row: int
    iteration: int | None = None
    of_iterations: int | None = None
    warm: bool
    why: Quoting
    doubts: tuple[Quoting, ...] = ()


class Saving(Wire):
    """The time a change can give back, in microseconds of the window: bounds, and what to expect between them.

    8 of 10 such changes save an amount inside the interval. Without `expected` the change is a trial: `basis` tells how
    many measured tries of its check gained, `if_gains` the median of what these saved.
    """

    at_least: Us  # also where it is 0: scripts read both bounds
    at_most: Us
    expected: Us | None = None
    interval: tuple[Us, Us] | None = None
    if_gains: Us | None = None
    basis: Quoting | None = None


class BeforeAfterMs(Wire):
    """Milliseconds on both sides of a comparison."""

    before: Ms
    after: Ms


class SavingMs(Wire):
    """The time a change can give back, in milliseconds of the window: a bound, and what to expect below it."""

    at_most: Ms
    expected: Ms | None = None
    interval: tuple[Ms, Ms] | None = None
    basis: Quoting | None = None


class Evidence(Wire):
    """One cell anybody can look up: file, row (line of the CSV, or table:rowid), column, value, unit."""

    source: Quoted
    row: int | str
    column: Quoted
    value: QuotedCell
    unit: str | None = None


class Finding(Wire):
    """One claim with the evidence for it, what it could save and how to act on it."""

    check: str
    edit: str
    step: int
    claim: Quoting
    share: Share
    saving_us: Saving
    assumption: Quoting
    evidence: tuple[Evidence, ...]
    fix: Quoting
    verify: Quoting
    caveat: Quoting | None = None
    read_next: str


class StepStatus(Wire):
    """What one step of the skill came to."""

    step: int
    status: Status
    why: Quoting


class NextCall(Wire):
    """A call worth making next, complete with its arguments."""

    tool: str
    arguments: dict[str, QuotedCell]
    why: Quoting


class Link(Wire):
    """How the memory report and the performance report of one run were matched."""

    status: Literal["linked", "not_linked", "not_applicable"]
    method: str | None = None
    matched: int | None = None
    of: int | None = None
    why: Quoting | None = None
