"""Our `dataclass` behaves as the standard one."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import ClassVar

import pytest

from tests.for_all import for_all
from ttnn_mcp import records

FORMS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "kw_only": True},
]


def point(decorator, **form):
    class Point:
        x: int
        y: float = 2.5
        seen: list = field(default_factory=list, compare=False)
        note: str = field(default="", compare=False, repr=False)
        twice: int = field(init=False)
        tags: dict = field(init=False, default_factory=dict, compare=False)
        unit: str = field(init=False, default="us")

        def __post_init__(self):
            object.__setattr__(self, "twice", 2 * self.x)

        def half(self):
            return self.x / 2

    return decorator(**form)(Point)


def is_frozen(made):
    try:
        made.z = made.z
    except FrozenInstanceError:
        return True
    return False


def outcome(function, *values, **named):
    try:
        return function(*values, **named)
    except (TypeError, AttributeError) as fault:
        return type(fault), str(fault).partition("(")[0].replace(".<locals>", "").rpartition(".")[2]


def told(made):
    """What may be seen of a record."""
    return (
        {each.name: outcome(getattr, made, each.name) for each in fields(made)},
        repr(made).rpartition("Point")[2],
        hasattr(made, "__dict__"),
    )


def both(form):
    return point(dataclasses.dataclass, **form), point(records.dataclass, **form)


@for_all("form", FORMS)
@for_all(
    ("values", "named"),
    [
        ((), {"x": 1}),
        ((), {"x": 1, "y": 3, "seen": [1], "note": "n"}),
        ((1,), {}),
        ((1, 2.0, [3], "n"), {}),
        ((), {}),
        ((1,), {"x": 1}),
        ((1,), {"twice": 1}),
        ((1, 2, [], "", 5), {}),
    ],
)
def test_it_takes_the_same_values_and_shows_the_same(form, values, named):
    ours, theirs = (outcome(lambda kind=kind: told(kind(*values, **named))) for kind in reversed(both(form)))
    assert ours == theirs


@for_all("form", FORMS)
def test_records_are_equal_hashed_changed_and_copied_as_the_standard_ones(form):
    facts = []
    for kind in both(form):
        first, second, other = kind(x=1), kind(x=1, note="of no account"), kind(x=3)
        facts.append(
            (
                (first == second, first == other, first != other, first == 1),
                outcome(lambda records=(first, second): len({*records})),
                outcome(setattr, first, "x", 5),
                outcome(delattr, other, "y"),
                told(replace(second, y=7.0)),
                told(copy.copy(second)),
                first.seen is kind(x=1).seen,
                kind.__match_args__,
                [each.name for each in fields(kind)],
                second.half(),
            )
        )
    assert facts[0] == facts[1]


def test_a_frozen_record_refuses_to_be_changed():
    made = point(records.dataclass, frozen=True, slots=True)(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        made.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        made.other = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del made.x
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'other'"):
        del made.other


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
def test_a_class_below_a_frozen_one_has_attributes_of_its_own(decorator):
    class Below(point(decorator, frozen=True)):
        pass

    made = Below(1)
    made.other = 3
    assert made.other == 3
    del made.other
    assert not hasattr(made, "other")
    with pytest.raises(FrozenInstanceError):
        made.x = 2
    with pytest.raises(FrozenInstanceError):
        del made.x


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
@for_all("above", [dataclasses.dataclass, records.dataclass])
@for_all("form", [{}, {"frozen": True}, {"frozen": True, "slots": True}])
def test_a_record_of_a_record_takes_the_fields_of_both(decorator, above, form):
    @decorator(**form)
    class Wider(point(above, **form)):
        z: int = 9

    made = Wider(1, z=4)
    assert (made.x, made.z, made.twice, made.half()) == (1, 4, 2, 0.5)
    assert made == Wider(1, z=4) != Wider(1)
    assert made != point(above, **form)(1)
    assert is_frozen(made) == form.get("frozen", False)
    with pytest.raises(TypeError, match="cannot inherit"):
        decorator(frozen=not form.get("frozen", False))(type("Odd", (point(above, **form),), {}))


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
@for_all("form", [{}, {"slots": True}, {"frozen": True, "kw_only": True}])
def test_a_record_may_write_a_field_of_the_one_above_anew_and_share_what_all_of_its_kind_have(decorator, form):
    @decorator(**form)
    class Shape:
        rows: int
        columns: int = 4
        depth: int = field(default=1, kw_only=True, repr=False)
        KINDS: ClassVar[int] = 2

    @decorator(**form)
    class Tile(Shape):
        rows: int
        columns: int = field(default=32, compare=False)

    made = Tile(rows=8)
    assert (made.rows, made.columns, made.KINDS, repr(made).rpartition(".")[2]) == (
        8,
        32,
        2,
        "Tile(rows=8, columns=32)",
    )
    assert made == Tile(rows=8, columns=1)
    assert [(each.name, each.type, each.default) for each in fields(Shape)] == [
        ("rows", int, dataclasses.MISSING),
        ("columns", int, 4),
        ("depth", int, 1),
    ]
    assert [(each.name, each.kw_only) for each in fields(Tile)][1:] == [
        ("columns", form.get("kw_only", False)),
        ("depth", True),
    ]
    assert hasattr(made, "__dict__") != form.get("slots", False)
    assert getattr(Tile, "__slots__", ()) == ()


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
def test_what_a_class_writes_itself_stays(decorator):
    @decorator(frozen=True)
    class Own:
        x: int

        def __init__(self, word):
            object.__setattr__(self, "x", len(word))

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

    made = Own("word")
    assert (made.x, repr(made), made == 3, hash(made)) == (4, "own", True, 7)


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
def test_a_class_without_fields_and_one_without_an_init_are_records(decorator):
    @decorator
    class Nothing:
        pass

    @decorator(init=False)
    class Bare:
        x: int = 1

    assert Nothing() == Nothing()
    assert (Bare().x, Bare()) == (1, Bare())
    with pytest.raises(TypeError):
        Bare(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Nothing())


@records.dataclass(frozen=True, slots=True)
class Packed:
    """A record that another process may get."""

    x: int
    names: tuple[str, ...] = ()


def test_a_record_is_compared_by_identity_first_and_survives_pickling():
    odd = Packed(1, float("nan"))
    assert odd == odd  # noqa: PLR0124
    made = Packed(3, ("a",))
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own
    assert hash(Packed(3, ("a",))) == hash(made) == hash((3, ("a",)))


@for_all("decorator", [dataclasses.dataclass, records.dataclass])
def test_a_copy_keeps_what_was_added_and_a_field_that_nothing_sets_is_absent(decorator):
    @decorator(frozen=True)
    class Open:
        x: int
        late: int = field(init=False)

    made = Open(1)
    assert not hasattr(made, "late")
    object.__setattr__(made, "added", 3)
    assert copy.copy(made).added == 3


def test_init_is_written_once_when_it_is_first_called():
    kind = point(records.dataclass, frozen=True)
    before = kind.__init__
    assert "x" not in inspect.signature(before).parameters
    kind(1)
    written = kind.__init__
    assert [*inspect.signature(written).parameters] == ["self", "x", "y", "seen", "note"]
    below = records.dataclass(frozen=True)(type("Below", (kind,), {}))
    assert "x" not in inspect.signature(below.__init__).parameters
    before(kind(1), 4)  # as a thread that had looked it up calls it
    assert kind.__init__ is written
    assert (kind.__doc__, Packed.__doc__) == ("Point", "A record that another process may get.")
