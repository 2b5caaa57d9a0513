"""`make lines FAULTS=1 ROOMS=...`: which faults are planted, and that a room that was told is not tried again."""

import ast
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mutation import rooms, scope
from mutation.faults import faults
from mutation.module import mutants_of

SOURCE = """
WIDE = 2 + 3

class Case:
    def share(self, part, whole):
        self.asked += 1
        self.last = part
        known = part
        known |= whole
        note(part)
        if part < whole or part not in known:
            return None
        return part / whole * 100 - 1

    def nothing(self):
        return
"""


def planted():
    """Each fault's description and the lines that it changes."""
    outcomes = {}
    for number in range(len(list(faults(ast.parse(SOURCE))))):
        tree = ast.parse(SOURCE)
        mutant = list(faults(tree))[number]
        mutant.change()
        before, after = (ast.unparse(ast.parse(SOURCE)).splitlines(), ast.unparse(tree).splitlines())
        outcomes[mutant.what] = [new.strip() for old, new in zip(before, after, strict=True) if old != new]
    return outcomes


def test_each_kind_of_fault_is_planted_in_functions_and_nowhere_else():
    assert planted() == {
        "Add made Sub: self.asked += 1": ["self.asked -= 1"],
        "left out: self.asked += 1": ["pass"],
        "left out: self.last = part": ["pass"],
        "left out: note(part)": ["pass"],
        "Lt made LtE: part < whole": ["if part <= whole or part not in known:"],
        "NotIn made In: part not in known": ["if part < whole or part in known:"],
        "nothing returned: return part / whole * 100 - 1": ["return None"],
        "Sub made Add: part / whole * 100 - 1": ["return part / whole * 100 + 1"],
        "Mult made Div: part / whole * 100": ["return part / whole / 100 - 1"],
        "Div made Mult: part / whole": ["return part * whole * 100 - 1"],
    }


def test_faults_are_among_the_mutants_only_where_they_are_asked_for():
    without, with_faults = ({one.what for one in mutants_of(SOURCE, of_faults=asked)[1]} for asked in (False, True))
    assert with_faults - without == {*planted()}


@pytest.fixture
def started(monkeypatch):
    """The words of each process that would be started; all of them end well."""
    seen = []
    done = SimpleNamespace(stdout="1 modules: 2 mutants noticed\n", returncode=0)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: seen.append(words) or done)
    return seen


def test_a_room_that_was_told_is_tried_again_only_when_something_changed(tmp_path, started, capsys):
    paths = [path for path in scope.with_lines() if path.parent in {scope.PLAN, scope.EXPERIMENTS}]
    assert rooms.tried_by_rooms(tmp_path, paths, []) == 0
    assert [words[:4] for words in started] == [[sys.executable, "-m", "mutation", "--only"]] * 2
    (tmp_path / "ttnn_mcp.experiments.txt").write_text("it broke off\n", encoding="utf-8")
    assert rooms.tried_by_rooms(tmp_path, paths, []) == 0
    assert [words[4].split("/")[1] for words in started] == ["checks", "experiments", "experiments"]
    rooms.tried_by_rooms(tmp_path, paths, ["--faults"])
    assert len(started) == 5
    assert capsys.readouterr().out.count("1 modules: 2 mutants noticed") == 6


def test_a_room_with_a_survivor_fails_each_time(tmp_path, started, monkeypatch):
    paths = [path for path in scope.with_lines() if path.parent == scope.PLAN]
    survived = SimpleNamespace(stdout="survived\n", returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: started.append(words) or survived)
    assert [rooms.tried_by_rooms(tmp_path, paths, []) for _ in range(2)] == [1, 1]
    assert len(started) == 1
