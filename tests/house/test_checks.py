"""Every check keeps the rules of the house; what fails says which command or line puts it right."""

import ast
import io
import re
import tokenize
from pathlib import Path

from tests.for_all import for_all
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.served import documents

ROOT = Path(__file__).parents[2]
CHECKS = ROOT / "ttnn_mcp" / "checks"
TESTS = ROOT / "tests" / "checks"
MODULES = sorted(path for path in CHECKS.glob("step*/*.py") if path.name != "__init__.py")
SHARED = sorted(path for path in (CHECKS / "shared").glob("*.py") if path.name != "__init__.py")
STEPS = sorted(path for path in CHECKS.glob("step*") if path.is_dir())
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
SOURCE = re.compile(r"\b(ours|practice|measured|skill|same)\b|tt-(metal|mlir|xla)|#\d{3,}|\.(cpp|hpp|md|py)\b")


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(check) -> Path:
    return ROOT / f"{check.look.__module__.replace('.', '/')}.py"


def test_the_catalogue_has_every_check_in_the_order_of_the_steps():
    assert [module_of(check) for check in CATALOGUE] == MODULES


def test_no_two_checks_have_one_id():
    ids = [check.id for check in CATALOGUE]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    assert not twice, f"rename one of the checks {twice}, module and id"


@for_all("check", CATALOGUE, ids=lambda check: check.id)
def test_a_check_is_named_like_its_module(check):
    path = module_of(check)
    wanted = path.stem.replace("_", "-")
    assert check.id == wanted, f'write id="{wanted}" in {where(path)}, or rename the module'
    assert KEBAB.fullmatch(check.id), (
        f"name the problem that {where(path)} sees in two words or more, in kebab-case"
    )


@for_all("check", CATALOGUE, ids=lambda check: check.id)
def test_a_check_stands_in_the_folder_of_its_step(check):
    path = module_of(check)
    number = re.match(r"step(\d)_", path.parent.name)
    assert number, f"move {where(path)} into the folder of its step"
    assert check.step == int(number.group(1)), f"write step={number.group(1)} in {where(path)}, or move the module"


@for_all("check", CATALOGUE, ids=lambda check: check.id)
def test_a_check_sends_the_reader_to_a_page_of_its_step(check):
    page = check.read_next.removesuffix(".md")
    path = where(module_of(check))
    assert page in documents.skill_pages(), f"write the name of a page of skills/ as read_next in {path}"
    assert page.startswith(f"step-{check.step:02d}-"), f"write the page of step {check.step} as read_next in {path}"


@for_all("path", MODULES, ids=lambda path: path.stem)
def test_a_check_documents_its_line_and_its_silence(path):
    page = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert "The line:" in page, f'say in the docstring of {where(path)} where the line is: "The line: ..."'
    silent = re.search(r"\b(silent|cannot tell|not applicable)\b", page, re.IGNORECASE)
    assert silent, (
        f'say in the docstring of {where(path)} when nothing is said: "Silent on ..." or "Cannot tell ..."'
    )


def constants_of(path: Path) -> list[tuple[str, int, str]]:
    """(name, line, the comments and text that go with it) of every number that a module names in capitals."""
    text = path.read_text(encoding="utf-8")
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    tree = ast.parse(text)
    found = []
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if not isinstance(target, ast.Name) or not target.id.isupper() or not is_a_number(statement.value):
            continue
        lines = range(statement.lineno, statement.end_lineno + 1)
        said = " ".join(comments.get(line, "") for line in lines)
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            said += f" {following.value.value}"  # a docstring of the constant
        found.append((target.id, statement.lineno, said))
    return found


def is_a_number(value: ast.AST | None) -> bool:
    """A number, arithmetic of numbers, or a tuple of them."""
    numbers = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)] if value else []
    plain = not any(isinstance(part, ast.Call | ast.Name) for part in ast.walk(value)) if value else False
    return plain and bool(numbers) and all(isinstance(one, int | float) for one in numbers)


@for_all("path", [*MODULES, *SHARED], ids=lambda path: path.stem)
def test_every_number_has_a_source(path):
    for name, line, said in constants_of(path):
        assert SOURCE.search(said), (
            f"say in the comment behind {name}, {where(path)}:{line}, whose number it is: measured, tt-metal #..., a "
            "file of TTNN, the skill, domain practice, or ours"
        )


@for_all("path", MODULES, ids=lambda path: path.stem)
def test_every_check_has_a_test_of_its_own(path):
    test = TESTS / path.parent.name / f"test_{path.name}"
    assert test.is_file(), f"write {where(test)}, with a pair at every line (see tests/checks/asking.py)"


@for_all("folder", STEPS, ids=lambda path: path.name)
def test_no_test_is_left_without_its_check(folder):
    for test in (TESTS / folder.name).glob("test_*.py"):
        name = test.name.removeprefix("test_")
        assert (folder / name).is_file(), f"{where(test)} tests nothing: remove it, or rename it like its check"


def test_only_the_harness_knows_how_a_check_is_asked():
    inside = re.compile(r"^from ttnn_mcp\.checks\.(case|check|diagnosis) import", re.MULTILINE)
    for path in (path for step in STEPS for path in (TESTS / step.name).glob("test_*.py")):
        found = inside.search(path.read_text(encoding="utf-8"))
        assert not found, (
            f"ask with the fixture `check` in {where(path)}, and drop `{found and found.group(0)} ...`"
        )
