"""A file that somebody else made is opened in one place, which refuses what is no regular file."""

import ast

from tests.house.tree import MODULES, PACKAGE, tree_of, where

OPENING = {"open", "read_text", "read_bytes", "fdopen"}
LOADING = {"read_csv", "loadtxt", "fromfile", "memmap", "mmap", "read_parquet"}
DOOR = PACKAGE / "readers" / "regular_file.py"

# what opens nothing of a user's: (module, call without its arguments) -> why
OTHERS = {
    ("analyses/laws/law.py", "COEFFICIENTS.read_text"): "of the package",
    ("analyses/time_budget/least_times.py", "paths.read_bytes"): "numbers of a table",
    ("analyses/memory/device_lane.py", "self.log.open"): "no file",
    ("archive/places.py", "(self._folder / name).read_bytes"): "the archive's own",
    ("checks/expectation.py", "CASES.read_text"): "of the package",
    ("readers/kept_bytes.py", "open"): "made for us by mkstemp",
    ("readers/performance/parsed_rows.py", "pd.read_csv"): "bytes of an open file",
    ("replay/measuring.py", "Path(asked.answer).open"): "the script's own",
    ("replay/measuring.py", "answers.read_text"): "the script's own",
    ("replay/measuring.py", "log.open"): "the script's own folder",
    ("report/page.py", "file.read_text"): "of the package",
    ("run/reading_digest.py", "file.read_bytes"): "of the package",
    ("served/documents.py", "(home() / folder / name).read_text"): "of the package",
    ("server/front_desk.py", "ANSWERS.read_text"): "of the package",
    ("server/handover.py", "os.open"): "the null device",
    ("session/session.py", "self.open"): "a run",
    ("shell/capture/accuracy_check.py", "open"): "what the script writes, where the user wants it",
    ("shell/capture/mock_report.py", "session.open"): "a run",
    ("shell/capture/mocked.py", "open"): "the system's list of TTNN's libraries, and these",
    ("shell/capture/mocked.py", "os.open"): "a place of which a rule speaks, never read",
    ("shell/capture/outcome.py", "session.open"): "a run",
    ("shell/terminal.py", "os.fdopen"): "the null device",
    ("shell/terminal.py", "os.open"): "the null device",
    ("tools/open_run.py", "session.open"): "a run",
}


def calls_that_open(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if name in OPENING | LOADING:
                yield node.lineno, ast.unparse(node.func)


def test_files_of_users_are_opened_in_one_place():
    found = {
        (path.relative_to(PACKAGE).as_posix(), call): f"{where(path)}:{line}"
        for path in MODULES
        if path != DOOR
        for line, call in calls_that_open(tree_of(path))
    }
    elsewhere = [place for key, place in found.items() if key not in OTHERS]
    assert not elsewhere, f"open with {where(DOOR)}, which refuses pipes and devices: {', '.join(elsewhere)}"
    assert not OTHERS.keys() - found.keys(), "an exception that nothing needs any more"


def test_the_rule_sees_each_way_to_open():
    text = (
        "open(a)\npath.open('rb')\nos.open(a, 0)\npath.read_text()\npath.read_bytes()\npandas.read_csv(a)\nread(a)"
    )
    assert [line for line, _ in calls_that_open(ast.parse(text))] == [1, 2, 3, 4, 5, 6]
