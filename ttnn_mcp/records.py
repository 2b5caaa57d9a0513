"""`dataclass` as in the standard library, for a tenth of its time: nothing is compiled or looked into before its use.

The standard one compiles the source of up to eight methods for each class, 1 ms of CPU time, and `ttnn-mcp check`
imports 180 classes: a fifth of its time. It makes records of half of them, and asks few for their fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass

    Key = Callable[[Any], tuple[Any, ...]]

__all__ = ["dataclass"]


def _late(
    cls: type[Any] | None = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    init: bool = True,
    kw_only: bool = False,
) -> Any:
    """As `dataclasses.dataclass`, which does all of a class below a record of its own."""

    def made(plain: type[Any]) -> type[Any]:
        above = [base for base in plain.__mro__[1:] if "__dataclass_fields__" in base.__dict__]
        if any("__written__" not in base.__dict__ for base in above):
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, init=init, kw_only=kw_only)(plain)
        written = _Written(frozen=frozen)
        for base in reversed(above):
            written.take(base.__dict__["__written__"])
        written.read(plain, kw_only=kw_only)
        fields, own = written.fields, plain.__dict__
        added: dict[str, Any] = {"__repr__": _repr, "__doc__": plain.__doc__ or plain.__name__}
        if init:
            added["__init__"] = _late_init(plain, fields)
        if frozen:
            added |= _refusing(frozenset(fields))
            if slots:
                added |= {"__getstate__": _state, "__setstate__": _set_state}
        if eq:
            key = _key(name for name, field in fields.items() if field.compare)
            added |= {"__eq__": _equal(key), "__hash__": _hash(key) if frozen else None}
        added = {name: value for name, value in added.items() if own.get(name) is None} | {"__written__": written}
        for name in ("__dataclass_fields__", "__dataclass_params__", "__match_args__"):
            added[name] = _Standard(name, written)
        return (_with_slots if slots else _with)(plain, added, fields)

    return made if cls is None else made(cls)


if not TYPE_CHECKING:
    dataclass = _late


class _Written:
    """The fields as the class and the records above it write them."""

    def __init__(self, *, frozen: bool) -> None:
        self.frozen = frozen
        self.types: dict[str, Any] = {}
        self.fields: dict[str, Field[Any]] = {}

    def take(self, above: _Written) -> None:
        if above.frozen is not self.frozen:
            raise TypeError("a frozen record cannot inherit from one that is not frozen, nor the other way round")
        self.types |= above.types
        self.fields |= above.fields

    def read(self, plain: type[Any], *, kw_only: bool) -> None:
        types: dict[str, Any] = plain.__annotations__
        for name in [name for name in types if "ClassVar" not in str(types[name])]:
            value: Any = getattr(plain, name, MISSING)
            # the slot of a record above, which the class gives no value
            if isinstance(value, MemberDescriptorType):
                value = MISSING
            field: Field[Any] = cast("Any", value if isinstance(value, Field) else dataclasses.field(default=value))
            if field.kw_only is MISSING:
                field.kw_only = kw_only
            self.types[name], self.fields[name] = types[name], field

    def standard(self, module: str, *, frozen: bool) -> type[Any]:
        """A standard dataclass with these fields. Not frozen and with a docstring it takes a quarter of the time."""
        body = {"__annotations__": self.types, "__module__": module, "__doc__": "Plain", **self.fields}
        return dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen)(type("Plain", (), body))


class _Standard:
    """What the standard dataclass knows of a class with the same fields; asked of few records."""

    def __init__(self, name: str, written: _Written) -> None:
        self.name, self.written = name, written

    def __get__(self, record: object, kind: type[Any]) -> Any:
        frozen = self.written.frozen and self.name == "__dataclass_params__"  # unmoved: frozen takes longer
        known = getattr(self.written.standard(kind.__module__, frozen=frozen), self.name)
        for above in kind.__mro__:
            if above.__dict__.get(self.name) is self:
                setattr(above, self.name, known)
        return known


def _with_slots(plain: type[Any], added: dict[str, Any], fields: dict[str, Field[Any]]) -> type[Any]:
    """The class once more: slots cannot be added to one that exists."""
    body = {
        name: value for name, value in plain.__dict__.items() if name not in {"__dict__", "__weakref__", *fields}
    }
    above = {name for kind in plain.__mro__ for name in kind.__dict__.get("__slots__", ())}
    slots = tuple(name for name in fields if name not in above)
    body |= {**added, "__slots__": slots, "__qualname__": plain.__qualname__}
    return type(plain.__name__, plain.__bases__, body)


def _with(plain: type[Any], added: dict[str, Any], fields: dict[str, Field[Any]]) -> type[Any]:
    for name, value in added.items():
        setattr(plain, name, value)
    for name, field in fields.items():
        if isinstance(plain.__dict__.get(name), Field):
            if field.default is MISSING:
                delattr(plain, name)
            else:
                setattr(plain, name, field.default)
    return plain


def _late_init(plain: type[Any], fields: dict[str, Field[Any]]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807 - as errors name it
        written = _written_init(plain, fields)
        for kind in type(self).__mro__:
            if kind.__dict__.get("__init__") is __init__:
                kind.__init__ = written
        written(self, *args, **named)

    return __init__


def _written_init(plain: type[Any], fields: dict[str, Field[Any]]) -> Callable[..., None]:
    """`__init__` as the standard dataclass writes it."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    ordered: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for name, field in fields.items():
        made: Any = field.default_factory  # pyright: ignore[reportUnknownMemberType]
        known |= {f"_of_{name}": field.default if made is MISSING else made}
        has_default = known[f"_of_{name}"] is not MISSING
        value = name
        if made is not MISSING:
            value = f"_of_{name}() if {name} is _missing else {name}" if field.init else f"_of_{name}()"
        elif not field.init:
            if not has_default:
                continue
            value = f"_of_{name}"
        if field.init:
            default = "" if not has_default else f"=_of_{name}" if made is MISSING else "=_missing"
            (named if field.kw_only else ordered).append(f"{name}{default}")
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(plain, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *ordered, *(["*", *named] if named else [])])
    source = f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"])
    exec(source, known)  # noqa: S102 - names of our own fields
    written = known["__init__"]
    written.__qualname__ = f"{plain.__qualname__}.__init__"
    return written


def _key(names: Iterable[str]) -> Key:
    """What two records are compared by."""
    names = tuple(names)
    if len(names) > 1:  # unmoved: it is only quicker
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _equal(key: Key) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return self is other or key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(key: Key) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(key(self))

    return __hash__


def _refusing(names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """What a frozen record answers to whoever changes it; a plain class below it has attributes of its own."""

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if name in names or "__setattr__" in type(self).__dict__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if name in names or "__delattr__" in type(self).__dict__:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _repr(self: Any) -> str:
    parts = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
