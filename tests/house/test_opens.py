"""A file that somebody else made is opened in one place, which refuses what is no regular file."""

import ast

from tests.house.tree import MODULES, PACKAGE, tree_of, where

OPENING = {"open", "read_text", "read_bytes", "fdopen"}
LOADING = {
    "read_csv", "read_table", "read_json", "read_pickle", "read_excel", "read_parquet", "loadtxt", "genfromtxt",
    "fromfile", "np.load", "numpy.load", "memmap", "mmap", "connect", "ZipFile", "FileIO", "copyfile", "copy2", "copytree",
    "getline", "run_path", "CDLL", "FileInput",
}  # fmt: skip
DOOR = PACKAGE / "readers" / "regular_file.py"

# what opens nothing of a user's: (module, call without its arguments) -> why
OTHERS = {
    ("analyses/laws/law.py", "COEFFICIENTS.read_text"): "of the package",
    ("analyses/programs/conv_readers.py", "self.read_bytes"): "a number",
    ("analyses/time_budget/least_times.py", "paths.read_bytes"): "numbers of a table",
    ("analyses/memory/device_lane.py", "self.log.open"): "no file",
    ("archive/engine.py", "duckdb.connect"): "in memory; the files it reads are the archive's own",
    ("archive/places.py", "(self._folder / name).read_bytes"): "the archive's own",
    ("checks/expectation.py", "CASES.read_text"): "of the package",
    ("readers/kept_files.py", "open"): "made for us by mkstemp",
    ("query/queries.py", "sqlite3.connect"): "in memory",
    ("readers/sqlite_file.py", "aiosqlite.connect"): "after a look at the file and all beside it",
    ("readers/performance/parsed_rows.py", "pd.read_csv"): "bytes of an open file",
    ("replay/measuring.py", "Path(asked.answer).open"): "the script's own",
    ("replay/measuring.py", "answers.read_text"): "the script's own",
    ("replay/measuring.py", "log.open"): "the script's own folder",
    ("report/page.py", "file.read_text"): "of the package",
    ("run/reading_digest.py", "file.read_bytes"): "of the package",
    ("served/documents.py", "(home() / folder / name).read_text"): "of the package",
    ("server/front_desk.py", "ANSWERS.read_text"): "of the package",
    ("server/stdio.py", "os.open"): "the null device",
    ("server/http/shares.py", "use.open"): "a count of sessions",
    ("server/http/shares.py", "uses[one].open"): "a count of sessions",
    ("session/session.py", "self.open"): "a run",
    ("shell/accuracy_command.py", "SCRIPT.read_text"): "of the package",
    ("shell/capture/accuracy_check.py", "open"): "what the script writes, where the user wants it",
    ("shell/capture/outcome.py", "session.open"): "a run",
    ("shell/capture/accuracy_check.py", "runpy.run_path"): "the user's script, in the user's own process",
    ("shell/capture/recorded.py", "runpy.run_path"): "the user's script, in the user's own process",
    ("shell/capture/mocked.py", "ctypes.CDLL"): "the system's",
    ("shell/capture/mocked.py", "open"): "the system's list of TTNN's libraries, and these",
    ("shell/capture/mocked.py", "os.open"): "a place of which a rule speaks, never read",
    ("shell/terminal.py", "os.fdopen"): "the null device",
    ("shell/terminal.py", "os.open"): "the null device",
    ("tools/open_run.py", "session.open"): "a run",
}


def calls_that_open(tree):
    """What is called, or handed on to be called, by a name that opens files."""
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in own):
            written = ast.unparse(node)
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if {name, written} & (OPENING | LOADING) and isinstance(node.ctx, ast.Load):
                yield node.lineno, written


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
        "open(a)\npath.open('rb')\nos.open(a, 0)\npath.read_text()\npath.read_bytes()\npandas.read_csv(a)\n"
        "sqlite3.connect(a)\nnp.load(a)\nmap(Path.read_text, paths)\nreader = open\nread(a)\njson.load(a)"
    )
    assert sorted(line for line, _ in calls_that_open(ast.parse(text))) == [*range(1, 11)]
