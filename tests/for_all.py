"""A rule over many cases as one test, which lists all cases that break it."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from functools import partial, wraps

import pytest

BROKEN = (Exception, pytest.fail.Exception)
SHOWN = 100  # characters of a case


def for_all(names, cases, ids=None, sampled=1):
    """Like `pytest.mark.parametrize`, as one test. Each case has its own fixtures, as it would have there.

    With `sampled` its cases are dealt to so many tests: `make test` runs the first, `make check` the others.
    """
    told_cases = _labelled(names, cases, ids)

    def made(test):
        rule, labels, cases = test, *zip(*told_cases, strict=True)
        if hasattr(test, "rule"):  # rules over pairs stand on each other
            rule = test.rule
            labels = [f"{above}, {below}" for above in labels for below in test.labels]
            cases = [{**above, **below} for above in cases for below in test.cases]
        signature = inspect.signature(rule)
        wanted = [each.name for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        wanted = [name for name in wanted if name not in cases[0]]
        fixtures_of = partial(_Fixtures, wanted)
        others = [signature.parameters[name] for name in wanted]
        if "request" not in wanted:
            others.append(inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY))

        if inspect.iscoroutinefunction(rule):

            async def looped(part=0, **fixtures):
                told = _Told(labels[part::sampled])
                for number, case in enumerate(cases[part::sampled]):
                    with told.of(number), ExitStack() as stack:
                        await rule(**fixtures_of(fixtures, number, stack).all(), **case)
                told.end()

        else:

            def looped(part=0, **fixtures):
                told = _Told(labels[part::sampled])
                for number, case in enumerate(cases[part::sampled]):
                    with told.of(number), ExitStack() as stack:
                        rule(**fixtures_of(fixtures, number, stack).all(), **case)
                told.end()

        looped = wraps(rule)(looped)
        looped.__signature__ = signature.replace(parameters=others)
        looped.rule, looped.labels = rule, labels
        looped.cases = cases  # tests/groups.py looks at them
        return _in_parts(looped, sampled) if sampled > 1 else looped

    return made


def _labelled(names, cases, ids):
    """(its name, its values) of each case."""
    of_one = isinstance(names, str) and "," not in names
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    given = [dict(zip(names, [case] if of_one else case, strict=True)) for case in cases]
    if ids is not None and not callable(ids):
        ids = [*ids]
    assert given, "a rule over no case holds nothing"
    return [(_label(case, ids, number), case) for number, case in enumerate(given)]


def _in_parts(looped, parts):
    """The rule as so many tests, each of one part of its cases."""
    assert parts <= len(looped.cases), "a part over no case holds nothing"
    signature = inspect.signature(looped)
    part = inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY)
    looped.__signature__ = signature.replace(parameters=[*signature.parameters.values(), part])
    return pytest.mark.parametrize("part", range(parts))(pytest.mark.sampled(parts)(looped))


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


class _Fixtures:
    """Those of one case: a folder and patches of its own, and anew what a fixture of the tests makes for one test."""

    def __init__(self, wanted, fixtures, number, stack):
        self.wanted, self.fixtures, self.number, self.stack = wanted, fixtures, number, stack
        self.made = {}

    def all(self):
        for name in self._of_this_test():  # those that a test need not name too
            self.of(name)
        return {name: self.of(name) for name in self.wanted}

    def _of_this_test(self):
        request = self.fixtures.get("request")
        return [name for name in request.fixturenames if self._of_the_tests(name)] if request else []

    def of(self, name):
        if name not in self.made:
            self.made[name] = self._made(name)
        return self.made[name]

    def _made(self, name):
        if name == "tmp_path" and (folder := self._from_pytest(name)):
            (folder / f"case{self.number}").mkdir()
            return folder / f"case{self.number}"
        if name == "monkeypatch":
            return self.stack.enter_context(pytest.MonkeyPatch.context())
        if name in ("capsys", "capfd"):
            self._from_pytest(name).readouterr()  # what the case before wrote
        if not (fixture := self._of_the_tests(name)):
            return self._from_pytest(name)
        value = fixture.func(**{each: self.of(each) for each in fixture.argnames})
        if inspect.isgenerator(value):
            self.stack.callback(next, value, None)
            return next(value)
        return value

    def _from_pytest(self, name):
        return self.fixtures[name] if name in self.fixtures else self.fixtures["request"].getfixturevalue(name)

    def _of_the_tests(self, name):
        """The fixture of this name where a plain function of the tests makes it for one test, without parameters."""
        request = self.fixtures.get("request")
        several = request.node._fixtureinfo.name2fixturedefs.get(name, ()) if request else ()
        if len(several) != 1 or several[0].scope != "function" or several[0].params:
            return None
        function = several[0].func
        waits = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        return several[0] if function.__module__.startswith("tests.") and not waits else None


def _label(case, ids, number):
    if callable(ids):
        return "-".join(str(ids(value)) for value in case.values())
    text = str(ids[number]) if ids else ", ".join(f"{name}={value!r}" for name, value in case.items())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
