"""`make lines` itself: what it changes, what it leaves, and that tests of a check notice."""

import ast
import importlib
import sys

import pytest

from mutation import scope
from mutation.guards import guards
from mutation.live import Live, UnfitError
from mutation.module import Module, mutants_of
from mutation.thresholds import moved, thresholds
from tests.for_all import for_all

SOURCE = """
from ttnn_mcp.hardware import TILE_SIDE
LINE = 0.5
COUNT = 1
NOBODY = -1
TABLE = {"a": 10}
lower = 7

@check(step=4, of=Subject(lambda ops: ops & about), worth=0.02, needs=(PERFORMANCE, LINK))
def look(case: int | None, rows):
    if not rows or case is None:
        return "nothing"
    kept = [row for row in rows if row > 3]
    mask = kept & rows & ~rows
    mask &= rows
    if case:
        mask += 1
    return case or LINE
"""


def mutated(kind):
    """Each mutant's description and code."""
    outcomes = {}
    for number in range(len(list(kind(ast.parse(SOURCE))))):
        tree = ast.parse(SOURCE)
        mutant = list(kind(tree))[number]
        mutant.change()
        outcomes[mutant.what] = ast.unparse(tree)
    return outcomes


@for_all(("number", "both"), [(100, (130, 70)), (1, (2, 0)), (0, (1, -1)), (-1, (0, -2)), (0.5, (0.65, 0.35))])
def test_numbers_move_by_thirty_percent_and_whole_ones_by_one_at_least(number, both):
    assert moved(number) == pytest.approx(both)


def test_every_number_in_capitals_is_moved_and_no_step():
    names = sorted({what.rpartition(" moved")[0] for what in mutated(thresholds)})
    assert names == ["COUNT", "LINE", "TABLE", "TILE_SIDE (imported)", "look.worth", "number in `row > 3`"]
    assert all(code.count("step=4") == 1 for code in mutated(thresholds).values())


def test_an_imported_number_is_moved_where_it_is_used():
    code = mutated(thresholds)["TILE_SIDE (imported) moved from 32 to 42"]
    assert code.startswith("from ttnn_mcp.hardware import TILE_SIDE\nTILE_SIDE = 42\n")


@for_all(
    ("what", "line"),
    [
        ("never taken: if not rows or case is None", "if False:"),
        ("left out: not rows", "if case is None:"),
        ("left out: case is None", "if not rows:"),
        ("left out: if row > 3", "kept = [row for row in rows]"),
        ("left out: ~rows", "mask = kept & rows"),
        ("left out: rows", "mask = kept & ~rows"),
        ("left out: kept", "mask = rows & ~rows"),
        ("left out: mask &= rows", "pass"),
        ("always taken: if case", "if True:"),
        (
            "need left out: LINK",
            "@check(step=4, of=Subject(lambda ops: ops & about), worth=0.02, needs=(PERFORMANCE,))",
        ),
        (
            "left out: of=Subject(lambda ops: ops & about)",
            "@check(step=4, worth=0.02, needs=(PERFORMANCE, LINK))",
        ),
        (
            "left out: ops",
            "@check(step=4, of=Subject(lambda ops: about), worth=0.02, needs=(PERFORMANCE, LINK))",
        ),
    ],
)
def test_every_guard_is_removed(what, line):
    assert line in [one.strip() for one in mutated(guards)[what].splitlines()]


def test_types_and_defaults_are_no_guards():
    assert not [what for what in mutated(guards) if "int | None" in what or what.endswith("LINE")]


def test_functions_that_wait_are_no_exception():
    text = "async def look(case: int | None):\n    if not case:\n        return\n    return case > 3 and case\n"
    assert [mutant.what for mutant in mutants_of(text)[1]] == [
        "never taken: if not case",
        "number in `case > 3` moved from 3 to 4",
        "number in `case > 3` moved from 3 to 2",
        "left out: case > 3",
        "left out: case",
    ]


def test_what_judges_a_change_is_held_by_the_tests_beside_it_and_of_its_tool():
    rules = scope.EXPERIMENTS / "rules.py"
    assert rules in scope.with_lines()
    tests = [path.relative_to(scope.ROOT / "tests").as_posix() for path in scope.tests_of(rules)]
    assert (tests[0], tests[-1]) == ("experiments/test_rules.py", "tools/test_experiments.py")


def test_no_module_is_left_out():
    package = scope.ROOT / "ttnn_mcp"
    modules = {path for path in package.rglob("*.py") if path.name not in {"__init__.py", "__main__.py"}}
    assert modules == {*scope.with_lines()}


def test_a_room_without_a_rule_of_its_own_is_held_by_all_of_its_tests_and_a_module_at_the_top_by_one():
    places = scope.ROOT / "ttnn_mcp" / "session" / "places.py"
    tests = [path.relative_to(scope.ROOT / "tests").as_posix() for path in scope.tests_of(places)]
    assert tests[0].startswith("session/test_")
    assert all(test.startswith("session/") for test in tests)
    assert scope.tests_of(scope.ROOT / "ttnn_mcp" / "wire.py") == [scope.ROOT / "tests" / "test_wire.py"]


def test_what_is_known_of_programs_is_held_by_the_tests_of_settings_and_checks_that_ask_it():
    tests = [
        path.relative_to(scope.ROOT / "tests").as_posix()
        for path in scope.tests_of(scope.PROGRAMS / "attention.py")
    ]
    assert tests[0] == "analyses/programs/test_attention.py"
    assert {"analyses/settings/test_sdpa.py", "tools/test_check_setting.py"} <= {*tests}
    convs = scope.tests_of(scope.PROGRAMS / "convs.py")
    assert scope.TESTS / "step6_conv2d" / "test_conv_double_buffer_off.py" in convs


def test_the_parts_of_the_plan_are_held_by_the_tests_of_the_plan():
    assert scope.TESTS / "plan" / "test_plan.py" in scope.tests_of(scope.PLAN / "edits.py")


def test_the_tests_of_a_check_are_the_module_named_like_it():
    check = scope.CHECKS / "step4_metal_trace" / "stalled_on_host.py"
    assert scope.tests_of(check) == [scope.TESTS / "step4_metal_trace" / "test_stalled_on_host.py"]


def test_what_checks_are_declared_with_has_lines_too():
    needs = scope.CHECKS / "needs.py"
    assert needs in scope.with_lines()
    assert scope.tests_of(needs) == [scope.TESTS / "test_needs.py"]


def test_what_checks_share_is_held_by_the_tests_of_those_that_use_it():
    tests = scope.tests_of(scope.CHECKS / "wording.py")
    assert scope.TESTS / "test_wording.py" in tests
    assert scope.TESTS / "step1_data_formats" / "test_wide_weights.py" in tests
    assert scope.TESTS / "step4_metal_trace" / "test_stalled_on_host.py" not in tests


def test_what_checks_know_of_a_kind_of_op_is_held_by_the_tests_beside_it_and_of_those_checks():
    trips = scope.KINDS / "round_trips.py"
    assert trips in scope.with_lines()
    tests = [path.relative_to(scope.ROOT / "tests").as_posix() for path in scope.tests_of(trips)]
    assert tests[0] == "analyses/op_kinds/test_layouts.py"
    assert "checks/step2_layouts/test_tilize_round_trip.py" in tests
    assert "checks/step4_metal_trace/test_stalled_on_host.py" not in tests


def test_a_tool_is_held_by_its_own_tests_and_the_doors_and_a_part_by_those_of_its_users():
    held = {
        module: [test.relative_to(scope.ROOT / "tests" / "tools").as_posix() for test in scope.tests_of(module)]
        for module in (scope.TOOLS / "list_ops.py", scope.PARTS / "op_groups.py")
    }
    assert held.keys() <= {*scope.with_lines()}
    own, part = held.values()
    door = ["test_answering.py", "test_answering_validation.py"]
    assert own == ["test_list_ops.py", *door]
    assert part == ["parts/test_op_groups.py", "test_list_ops.py"]
    several = [path.name for path in scope.tests_of(scope.TOOLS / "time_budget.py")]
    assert several == ["test_time_budget.py", "test_time_budget_properties.py", *door]


IMPORTED = """
LINE = 5

class Case:
    def over(self, number):
        return number > LINE and number

def loud(number):
    return number > LINE

from ttnn_mcp.tools.tool import Budget

RECORD = Budget(size=40, cut=(Case, loud))
"""


def live(tmp_path, monkeypatch):
    """A module that is imported, and its mutants."""
    path = tmp_path / "imported_for_lines.py"
    path.write_text(IMPORTED)
    tree, mutants, _ = mutants_of(IMPORTED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    imported = importlib.import_module(path.stem)
    functions = {
        (each.__name__, each.__code__.co_firstlineno): [each] for each in (imported.Case.over, imported.loud)
    }
    module = Module(path, path.stem, tree, mutants, {}, ())
    return Live(module, imported, functions), {one.what: one for one in mutants}


def test_a_mutant_takes_the_place_of_what_was_imported(tmp_path, monkeypatch):
    alive, mutants = live(tmp_path, monkeypatch)
    case = alive.imported.Case()
    assert case.over(0) is False
    mutants["left out: number > LINE"].change()
    assert alive.replace(alive.module.tree) == {("over", 5)}
    assert case.over(0) == 0


def test_so_does_a_number(tmp_path, monkeypatch):
    alive, mutants = live(tmp_path, monkeypatch)
    mutants["LINE moved from 5 to 7"].change()
    assert alive.replace(alive.module.tree) is None
    assert [alive.imported.loud(number) for number in (7, 8)] == [False, True]


def test_a_record_takes_only_what_differs(tmp_path, monkeypatch):
    """Its classes and functions stay: those of a second import would not fit what was imported."""
    alive, mutants = live(tmp_path, monkeypatch)
    record, own = alive.imported.RECORD, alive.imported.RECORD.cut
    mutants["RECORD.size moved from 40 to 52"].change()
    assert alive.replace(alive.module.tree) is None
    assert record.size == 52
    assert record.cut is own


def test_what_changes_nothing_here_is_tried_the_long_way(tmp_path, monkeypatch):
    alive, _ = live(tmp_path, monkeypatch)
    with pytest.raises(UnfitError):
        alive.replace(alive.module.tree)


def test_a_mutant_carries_the_excuse_of_its_line():
    _, mutants, excuses = mutants_of("A = 1\nB = 2  # ours # unmoved: only worded\n")
    assert [one.excuse for one in mutants] == [None, None, "only worded", "only worded"]
    assert excuses == {2: "only worded"}


def test_the_tests_of_a_step_hold_each_of_its_checks():
    step, check = "step7_multi_device", scope.CHECKS / "step7_multi_device" / "collective_share.py"
    assert scope.tests_of(check) == [
        scope.TESTS / step / "test_collective_share.py",
        scope.TESTS / f"test_{step}.py",
    ]


def changed(monkeypatch, *names):
    answers = {"diff": list(names), "ls-files": []}
    monkeypatch.setattr(scope, "_git", lambda *words: answers[words[0]])
    change = scope.changed("HEAD~1")
    return tuple([path.stem for path in paths] for paths in (change.own, change.held, change.reached))


def test_what_changed_is_the_check_or_its_test(monkeypatch):
    assert changed(monkeypatch, "README.md", "mutation/scope.py") == ([], [], [])
    check, test = "step4_metal_trace/stalled_on_host.py", "step4_metal_trace/test_stalled_on_host.py"
    assert changed(monkeypatch, f"ttnn_mcp/checks/{check}") == (["stalled_on_host"], [], [])
    shared = ["expectation", "traced"]  # what it asks of a wall time, which its test holds too
    assert changed(monkeypatch, f"tests/checks/{test}") == ([], [*shared, "stalled_on_host"], [])
    assert changed(monkeypatch, "tests/analyses/op_kinds/test_few_cores.py") == ([], ["few_cores"], [])


def test_what_tests_are_built_from_reaches_what_they_hold(monkeypatch):
    """In one test, because it reads the imports of all tests."""
    own, held, reached = changed(monkeypatch, "tests/checks/programs.py")
    assert not own
    assert not held
    assert "wide_weights" in reached
    assert "stalled_on_host" not in reached
    for support in ("checks/asking.py", "checks/conftest.py", "profiles/schema.py"):  # the last by its package
        assert "stalled_on_host" in changed(monkeypatch, f"tests/{support}")[2]
    assert "layering" in changed(monkeypatch, "tests/asking.py")[2]


def test_without_git_nothing_is_known_to_have_changed(monkeypatch):
    monkeypatch.setattr(scope, "_git", lambda *_: [])
    assert scope.changed(None) is None
