"""Calls that a mock device cannot run, or that need a process of their own: held to the names of their signatures."""

from __future__ import annotations

import inspect
import re
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_ON_MOCK = (  # it dies of replaying a trace and waits forever for an event
    "begin_trace_capture", "end_trace_capture", "execute_trace", "release_trace", "record_event", "wait_for_event",
    "experimental.all_gather_async",  # it takes semaphores and buffers of the model's mesh
)  # fmt: skip
# a device is open already when a fix is tried, and the pages' blocks run these
OPENING = ("open_device", "open_mesh_device", "set_fabric_config")


class Asked:
    """Stands for a function that a mock device cannot run: takes the arguments that its signature names."""

    def __init__(self, function: Any) -> None:
        self.name = function.__name__
        # nanobind keeps signatures in docstrings: `name(first: type, \\*, second: type = value) -> result`;
        # those of an op of TTNN stand with its call
        told = type(function.function).__call__ if hasattr(function, "function") else function
        heads = re.findall(rf"^{told.__name__}\((.*?)\)(?: ->|$)", told.__doc__, re.MULTILINE)
        self.names = [name for head in heads for name in re.findall(r"(?:^|, )(\w+): ", head)]
        self.positional = [len(re.findall(r"(?:^|, )\w+: ", head.partition("*")[0])) for head in heads]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        unknown = [name for name in named if name not in self.names]
        if unknown or len(arguments) > max(self.positional):
            raise TypeError(f"{self.name} takes {self.names}, not {unknown or len(arguments)}")
        return object()


class Taken:
    """Stands for a function that is written in Python."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any, **named: Any) -> None:
        inspect.signature(self.function).bind(*arguments, **named)


def unrunnable(name: str) -> bool:
    """Whether a call is held to its signature only."""
    return name.removeprefix("ttnn.") in (*NOT_ON_MOCK, *OPENING)


def asked_of(ttnn: Any, name: str) -> Callable[..., Any]:
    """The stand-in for a function of TTNN."""
    if name == "ttnn.open_device":  # its own signature leaves some out; pages run it in earnest
        return partial(_opened, ttnn)
    function = attrgetter(name.removeprefix("ttnn."))(ttnn)
    return Taken(function) if inspect.isfunction(function) else Asked(function)


def _opened(ttnn: Any, *, device_id: int, **named: Any) -> None:
    Taken(ttnn.open_mesh_device)(**named)
