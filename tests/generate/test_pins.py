"""constraints.txt has a part to run, one to test and one to check; a container installs the first alone."""

import re

from generate.pins import CHECK, HEAD, PINS, ROOT, TEST, parts

NAME = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def section(name):
    """The list of requirements under `name` in pyproject.toml, by name."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(rf"^{name} = \[(.*?)\](?:  #.*)?$", text, re.MULTILINE | re.DOTALL).group(1)
    return set(re.findall(r'"([\w.-]+)', listed))


def test_the_parts_stand_in_their_order_and_hold_every_pin_once():
    everything = {f"{name}==1": f"{name}==1\n" for name in ("a", "b", "c")}
    assert parts({"b==1"}, {"a==1", "b==1"}, everything) == f"{HEAD}b==1\n{TEST}a==1\n{CHECK}c==1\n"


def test_what_runs_is_pinned_without_what_only_tests():
    text = PINS.read_text(encoding="utf-8")
    assert text.count(TEST) == text.count(CHECK) == 1
    run, test = set(NAME.findall(text.split(TEST)[0])), set(NAME.findall(text.split(TEST)[1].split(CHECK)[0]))
    assert section("dependencies") | section("archive") <= run
    assert section("test") - run == section("test") - {"duckdb"}
    assert section("test") - run <= test


def test_the_last_stage_of_the_container_installs_what_runs():
    stages = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")
    assert len(stages) == 3
    assert "'/^# --- test/,$d' /source/constraints.txt > /built/pins.txt" in stages[1]
    assert "COPY --from=built /built /built" in stages[2]
    assert "-r /built/pins.txt" in stages[2]
    assert "/source" not in stages[2]
