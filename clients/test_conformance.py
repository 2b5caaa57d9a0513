"""The official conformance suite, over HTTP.

Most of its scenarios examine an SDK through fixture tools we have no use for. They run all the same, since every
message of every scenario is held to the schema of the protocol; `expected-failures-*.yml` names the checks that
miss their fixture, and a check that starts to pass must leave its list.
"""

from pathlib import Path

import pytest

from clients.installed import command

HERE = Path(__file__).parent
SUITES = {
    "stable": ("conformance-stable",),
    "2025-11-25": ("conformance", "--requirements", "2025-11-25"),
    "2026-07-28": ("conformance", "--requirements", "2026-07-28"),
}


@pytest.mark.parametrize("suite", SUITES)
def test_nothing_fails_but_what_needs_a_fixture(url, ran, suite):
    client, *words = SUITES[suite]
    known = str(HERE / f"expected-failures-{suite}.yml")
    done = ran(
        [*command(client, "conformance"), "server", "--url", url, *words, "--expected-failures", known], seconds=300
    )
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY") :]


@pytest.mark.parametrize(
    "scenario", ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"]
)
def test_the_skills_extension_conforms(url, ran, scenario):
    known = str(HERE / "expected-failures-2026-07-28.yml")  # our skill has no folder inside its folder
    words = ["server", "--url", url, "--scenario", scenario, "--expected-failures", known]
    done = ran([*command("conformance", "conformance"), *words])
    assert done.returncode == 0, done.stdout
    assert "SUCCESS" in done.stdout
