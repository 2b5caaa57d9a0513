"""A rule over many cases as one test, which lists all cases that break it."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from functools import wraps

import pytest

BROKEN = (Exception, pytest.fail.Exception)
SHOWN = 100  # characters of a case


def for_all(names, cases, ids=None):
    """Like `pytest.mark.parametrize`, as one test. Each case has its own `tmp_path` and `monkeypatch`."""
    of_one = isinstance(names, str) and "," not in names
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    given = [dict(zip(names, [case] if of_one else case, strict=True)) for case in cases]
    if ids is not None and not callable(ids):
        ids = [*ids]
    labels = [_label(case, ids, number) for number, case in enumerate(given)]
    assert given, "a rule over no case holds nothing"

    def made(test):
        signature = inspect.signature(test)
        if inspect.iscoroutinefunction(test):

            async def looped(**fixtures):
                told = _Told(labels)
                for number, case in enumerate(given):
                    with told.of(number), ExitStack() as stack:
                        await test(**_own(fixtures, number, stack), **case)
                told.end()

        else:

            def looped(**fixtures):
                told = _Told(labels)
                for number, case in enumerate(given):
                    with told.of(number), ExitStack() as stack:
                        test(**_own(fixtures, number, stack), **case)
                told.end()

        looped = wraps(test)(looped)
        others = [parameter for parameter in signature.parameters.values() if parameter.name not in names]
        looped.__signature__ = signature.replace(parameters=others)
        looped.cases = [*given, *getattr(test, "cases", ())]  # tests/groups.py looks at them
        return looped

    return made


class _Told:
    """What broke, by case; a case that is skipped is left out, and all of them skip the test."""

    def __init__(self, labels):
        self.labels, self.place = labels, 0
        self.broken, self.skipped = [], []

    def of(self, number):
        self.place = number
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, fault, _traceback):
        if isinstance(fault, pytest.skip.Exception):
            self.skipped.append(fault)
        elif isinstance(fault, BROKEN):
            self.broken.append((self.labels[self.place], fault))
        return isinstance(fault, (pytest.skip.Exception, *BROKEN))

    def end(self):
        if self.broken:
            lines = [f"{label}: {type(fault).__name__}: {fault}" for label, fault in self.broken]
            raise AssertionError(
                f"{len(lines)} of {len(self.labels)} cases:\n" + "\n".join(lines)
            ) from self.broken[0][1]
        if len(self.skipped) == len(self.labels):
            raise self.skipped[0]


def _own(fixtures, number, stack):
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / f"case{number}"
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    return own


def _label(case, ids, number):
    if callable(ids):
        return "-".join(str(ids(value)) for value in case.values())
    text = str(ids[number]) if ids else ", ".join(f"{name}={value!r}" for name, value in case.items())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
