"""Proves our advice against real TTNN on mock devices; `make real` runs it in the project's own environment.

    python -m tests.real.rig [demo | pages | names | mocks | advice | captures | proofs | replays | trials]
        [--seed SEED] [--count COUNT] [--only FILE [--call FUNCTION]] [--jobs N] [--report NAME ...]

Sets up an environment with TTNN, once. Exits non-zero if TTNN refuses anything that we tell, and says what.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.real import l1_captures
from tests.real.rig import proven_programs, report_rows, whole_programs
from tests.real.rig import replays as scripts
from tests.real.rig.anew import differences, of_program
from tests.real.rig.claims import jobs
from tests.real.rig.coverage import IN_WORDS, gaps
from tests.real.rig.environment import ROOT, ready
from tests.real.rig.models import MODELS
from tests.real.rig.page_names import PAGES
from tests.real.trials import outcome, summary
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.replay.mock_chips import KINDS as MOCK_CHIPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Answer = TypeVar("Answer")

KINDS = ("n150", "p100")
BRING_CORES = ("matmul-operands-in-l1-interleaved", "conv-cores-idle", "low-core-count")
UNSEEN = {  # what these change is no part of the op that a dry run shows
    "check_setting": "lists the present value too",
    "matmuls-on-one-input": "its weights are those of several ops: here they are the op's own",
    "moves-behind-halo": "spares a Move that the allocator decides on the device",
    "same-work-elsewhere-faster": "its call is the op's own: where x is to lie is told in words beside it",
}
UNPHYSICAL = (
    # its conv has more channels than its tensors, to fill L1
    "tests/checks/step6_conv2d/test_conv_shard_layout_slow.py::test_the_other_layout_must_fit_l1",
    # its reports lost the columns that an op is built from
    "tests/checks/shared/test_lost_columns.py::test_no_check_and_no_plan_breaks_where_columns_or_their_cells_are_lost",
)
MEMORY = ROOT / "resources" / "demo" / "memory"
REPORT = {  # what the demo's capture writes, and where it is kept
    **dict.fromkeys(("db.sqlite", "cluster_descriptor.yaml", "config.json"), MEMORY),
    "demo_figures.json": ROOT / "tests" / "real",
}


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def within(python: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the rig in the environment of TTNN."""
    command = [str(python), "-m", f"tests.real.rig.{module}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def side_by_side(asked: argparse.Namespace, ask: Callable[[str], Answer], names: Iterable[str]) -> Iterator[Answer]:
    """The answers, in order; as many processes of TTNN at a time as the machine has cores."""
    with ThreadPoolExecutor(asked.jobs) as pool:
        yield from pool.map(ask, names)


def demo(python: Path, _asked: argparse.Namespace) -> bool:
    """The bundled memory report is what TTNN writes of the demo's model; where it is not, it is written anew."""
    with tempfile.TemporaryDirectory() as folder:
        ran = within(python, "demo", folder)
        if ran.returncode:
            raise SystemExit(f"the demo was not captured: {ran.stderr.strip()[-300:]}")
        fresh = {name: Path(folder) / name for name in REPORT}
        stored = {name: target / name for name, target in REPORT.items()}
        changed = report_rows.differences(stored["db.sqlite"], fresh["db.sqlite"])
        changed += [
            name for name in REPORT if name != "db.sqlite" and fresh[name].read_bytes() != stored[name].read_bytes()
        ]
        if changed:
            for name, path in fresh.items():
                shutil.copy(path, stored[name])
    for line in changed:
        say(f"CHANGED {line}")
    say(f"demo: {'written anew, now run make fix' if changed else 'its report is what TTNN writes of its model'}")
    return not changed


def pages(python: Path, asked: argparse.Namespace) -> bool:
    """Every Python block of the skill's pages runs."""
    good = True
    texts = sorted((ROOT / "skills").glob("*/*.md"))
    with_code = [page.name for page in texts if page.name in PAGES or "```python" in page.read_text("utf-8")]
    answers = side_by_side(asked, lambda page: within(python, "pages", page), with_code)
    for page, ran in zip(with_code, answers, strict=True):
        say(_told(ran, ("REFUSED", page)))
        good &= ran.returncode == 0
    return good


def names(python: Path, _asked: argparse.Namespace) -> bool:
    """Every attribute of `ttnn` that is named exists."""
    ran = within(python, "names")
    say(_told(ran, ("NO SUCH NAME", "names:")))
    return ran.returncode == 0


def mocks(python: Path, asked: argparse.Namespace) -> bool:
    """`ttnn-mcp capture` runs a script as it is, and answers whether it fits and what was refused."""

    def answered(how: str) -> list[str]:
        kind, *words = how.split()
        command = [sys.executable, "-m", "ttnn_mcp", "capture", "--json", "--arch", kind, "--ttnn", str(python)]
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": folder, "PWD": folder}
            script = str(Path(__file__).with_name("users_script.py"))
            ran = subprocess.run(
                [*command, "--", "python", script, *words],
                cwd=folder, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
        answer = json.loads((ran.stdout.splitlines() or ["{}"])[-1] or "{}")
        if not answer:
            return [f"{how}: no answer, status {ran.returncode}: {ran.stderr.strip()[-300:]}"]
        errors = answer["memory"]["errors"]
        out = [str(one.get("ran_out_of", one.get("message"))) for one in errors]
        wanted = {"refused": "must be equal", "full": "L1 "}
        wrong = [f"{word} is not told: {out}" for word in words if not any(wanted[word] in text for text in out)]
        wrong += [f"fails: {out}"] if out and not words else []
        wrong += ["its status is lost"] if bool(ran.returncode) != bool(words) else []
        wrong += [] if answer["predicted"] else ["nothing is predicted"]
        wrong += ["no peak"] if answer["memory"]["l1_peak"]["bytes_per_bank"] <= 0 else []
        return [f"{how}: {what}" for what in wrong]

    hows = [*MOCK_CHIPS, "n150 refused", "p150 full"]
    wrong = [sentence for told in side_by_side(asked, answered, hows) for sentence in told]
    for sentence in wrong:
        say(f"DIFFERS {sentence}")
    say(f"mocks: {len(hows)} captures of a user's script, {len(wrong)} answers differ from what it does")
    ran = within(python, "compared")
    say(_told(ran, ("DIFFERS", "compared:")))
    return not wrong and ran.returncode == 0


def advice(python: Path, asked: argparse.Namespace) -> bool:
    """Every fix that checks give on the reports at hand is accepted, as far as it is code."""
    found = [*jobs(), *made()]
    known = {check.id for check in CATALOGUE} | {"check_setting"}
    found = [job for job in found if job["check"] in known]  # tests of the runner make up checks of their own
    counted: dict[str, list[str]] = {"ran": [], "words": [], "refused": []}
    idle: list[str] = []
    wrong: list[str] = []
    compared = judged = untold = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "jobs.json"
        file.write_text(json.dumps(found))
        kinds = sorted({job["kind"] for job in found})
        told_by_kind = side_by_side(asked, lambda kind: _answers(python, file, kind), kinds)
        for kind, answers in zip(kinds, told_by_kind, strict=True):
            for answer in answers:
                job = found[answer["job"]]
                for how, told in counted.items():
                    told.extend(job["check"] for _ in answer[how])
                idle += list(_idle(job, answer, kind))
                for how, text in (("CHANGES THE OP", "other"), ("NOT JUDGED", "unjudged")):
                    wrong += [f"{how} {job['check']}, {job['name']} of {job['report']} line {job['line']}, on {kind}: {one}"
                              for one in answer[text]]  # fmt: skip
                judged += len(answer["meant"]) + len(answer["other"])
                untold += len(answer["untold"])
                compared += job["check"] != "check_setting" and bool(answer["same"] or answer["changed"])
                for how, text in (("REFUSED", "refused"), ("NOT RUN", "words")):
                    for call in answer[text]:
                        say(f"{how} {job['check']}, {job['report']} line {job['line']}, on {kind}: {call}")
    missing = gaps(set(counted["ran"]), CATALOGUE)
    for sentence in (*missing, *idle, *wrong):
        say(sentence)
    ran, words, refused = (len(told) for told in counted.values())
    say(f"advice: {ran} calls of {len(found)} fixes accepted, {refused} refused, {words} not run; "
        f"{compared} fixes of matmuls and convs compared with the op as it is, {len(idle)} change nothing; "
        f"{judged} parts of fixes compute what the op does, but {len(wrong)}, of {untold} too little is told; "
        f"{len(known) - 1 - len(IN_WORDS)} checks by their calls, {len(IN_WORDS)} in words")  # fmt: skip
    return not refused and not words and not missing and not idle and not wrong


def _idle(job: dict, answer: dict, kind: str) -> Iterator[str]:
    """A fix that changes nothing of what TTNN runs for the op that it cites, or that is to bring cores and brings none."""
    now, then = job.get("cores", 0), max(map(int, answer["cores"]), default=0)
    where = f"{job['check']}, {job['report']} line {job['line']}, on {kind}"
    if job["check"] in BRING_CORES and now and 0 < then <= now:
        yield f"CHANGED NOTHING {where}: {now} cores, {then} then"
    as_reported = str(job["cores"]) in answer["now"]  # else TTNN 0.81.1 runs it otherwise before the fix, too
    if answer["same"] and not answer["changed"] and as_reported and job["check"] not in UNSEEN:
        yield f"CHANGED NOTHING {where}: {answer['same'][0]}"


def made() -> list[dict]:
    """Fixes that the tests of checks bring about, on programs made for them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fixes.json"
        command = [sys.executable, "-m", "pytest", "-p", "tests.real.rig.recorder", "-q", "tests/checks", "--fixes"]
        command += [str(file), *(f"--deselect={test}" for test in UNPHYSICAL)]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not file.is_file():
            raise SystemExit(f"the tests of checks did not run: {ran.stdout.strip()[-300:]}")
        return json.loads(file.read_text())


def _answers(python: Path, file: Path, kind: str) -> list[dict]:
    """What became of each job of that kind; one that kills its process is refused, and the rest is asked again."""
    answers, first = [], 0
    while True:
        ran = within(python, "advice", str(file), str(first), kind)
        lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        answers += [line for line in lines if "job" in line]
        if ran.returncode == 0:
            return answers
        started = [line["start"] for line in lines if "start" in line]
        if not started:
            raise SystemExit(f"real TTNN did not start on {kind}: {ran.stderr.strip()[-300:]}")
        answers.append({"job": started[-1], "ran": [], "words": [], "cores": [], "same": [], "changed": [], "now": [],
                        "other": [], "unjudged": [], "meant": [], "untold": [], "refused": ["TTNN died of it"]})  # fmt: skip
        first = started[-1] + 1


def captures(python: Path, asked: argparse.Namespace) -> bool:
    """The models of this folder and the programs of `models` captured anew: every figure against TTNN's own."""

    def captured(name: str) -> list[str]:
        module = "captured" if name in KINDS else "whole_programs"
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / name
            report.mkdir()
            ran = within(python, module, name, str(report))
            if ran.returncode:
                raise SystemExit(f"capturing {name} failed: {ran.stderr.strip()[-300:]}")
            return differences(report) if name in KINDS else list(of_program(report))

    names = [name for name in whole_programs.names() if asked.only in {None, name}]
    kinds = [] if asked.only else KINDS
    wrong = [sentence for told in side_by_side(asked, captured, (*kinds, *names)) for sentence in told]
    for sentence in wrong:
        say(f"DIFFERS {sentence}")
    say(f"captures: {len(MODELS)} models on {len(kinds)} chips and {len(names)} whole programs, "
        f"{len(wrong)} figures differ from TTNN's own")  # fmt: skip
    return not wrong


def proofs(python: Path, asked: argparse.Namespace) -> bool:
    """The stored proofs of our models of L1 are what TTNN allocates; where they are not, they are written anew.

    With `--only` the calls of one file of proofs run, or with `--call` those of them that name one function of TTNN. What
    is new of them is added to what is stored, and calls that TTNN refuses are told: they prove nothing.
    """

    def captured(job: str) -> tuple[dict, list[dict]]:
        name, kind = job.split()
        with tempfile.TemporaryDirectory() as folder:
            ran = within(python, "dry", name, kind, folder, *([asked.call] if asked.call else []))
            if ran.returncode:
                raise SystemExit(f"capturing {name} on {kind} failed: {ran.stderr.strip()[-300:]}")
            if asked.only:
                sys.stdout.writelines(f"{line}\n" for line in ran.stderr.splitlines() if line.startswith("REFUSED"))
            return proven_programs.rows_of(Path(folder), kind)

    programs = proven_programs.programs()
    if asked.only and asked.only not in programs:
        raise SystemExit(f"--only is one of {', '.join(programs)}")
    jobs = [f"{name} {kind}" for name, kinds in programs.items() for kind in kinds if asked.only in {None, name}]
    told = list(side_by_side(asked, captured, jobs))
    stored, known = l1_captures.read_back() if asked.only else ({}, [])
    chips = {job.split()[1]: chip for job, (chip, _) in zip(jobs, told, strict=True)}
    chips |= {name: asdict(machine) for name, machine in stored.items()}  # one file of calls may run on two of it
    rows = proven_programs.told_apart([*known, *(row for _, some in told for row in some)])
    fresh = proven_programs.stored(chips, rows)
    changed = not l1_captures.FILE.is_file() or l1_captures.FILE.read_text("utf-8") != fresh
    if changed:
        l1_captures.FILE.write_text(fresh, "utf-8")
    say(f"proofs: {len(rows)} programs, "
        f"{'written anew, now run tests/real/test_l1_captures.py' if changed else 'allocated as stored'}")  # fmt: skip
    return not changed


def trials(python: Path, asked: argparse.Namespace) -> bool:
    """Settings at shapes never tried before: TTNN's verdicts and buffers against ours."""

    def sampled(kind: str) -> list[dict]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / f"{kind}.json"
            ran = within(python, "sampled", kind, str(asked.seed), str(asked.count), str(out))
            if not out.is_file():
                raise SystemExit(f"sampling on {kind} failed: {ran.stderr.strip()[-300:]}")
            return json.loads(out.read_text())

    rows = [row for told in side_by_side(asked, sampled, KINDS) for row in told]
    outcomes = [outcome(row) for row in rows]
    for one in outcomes:
        if one.wrong_yes or one.missed or one.buffers_close is False:
            say(f"DIFFERS {json.dumps({**one.row, 'ours': one.judged.verdict, 'our_bytes': one.own_bytes})}")
    line, enough = summary(outcomes)
    say(f"trials of seed {asked.seed}: {line}")
    return enough and any(one.buffers_close is not None for one in outcomes)


def _told(ran: subprocess.CompletedProcess[str], starts: tuple[str, ...]) -> str:
    lines = [line for line in ran.stdout.splitlines() if line.startswith(starts)]
    return "\n".join(lines) or f"died with {ran.returncode}: {ran.stderr.strip()[-300:]}"


def replays(python: Path, asked: argparse.Namespace) -> bool:
    """Scripts of ops of the reports at hand, run unchanged: what we call legal is accepted, and takes the L1 we say."""
    accepted: Counter[str] = Counter()
    refused = unlike = unwritten = changed = compared = 0
    wanted = [one for one in scripts.reports() if not asked.report or Path(one).name in asked.report]
    for told in side_by_side(asked, lambda report: scripts.proven(report, python), wanted):
        for how, lines in (
            ("REFUSED", told.refused),
            ("OTHER L1", told.unlike),
            ("OTHER BUILD", told.other_build),
            ("OTHER ARGUMENT", told.changed),
        ):
            for line in lines:
                say(f"{how} {line}")
        accepted += told.accepted
        refused, unlike = refused + len(told.refused), unlike + len(told.unlike)
        changed, compared = changed + len(told.changed), compared + told.compared
        unwritten += told.unwritten.total()
    say(f"replays: {accepted.total()} of {accepted.total() + refused} accepted, {unlike} with other L1, "
        f"of {len(accepted)} kinds of op; {unwritten} ops are not rebuilt, which was said; "
        f"the attributes of {compared} ops came back, {changed} fields did not")  # fmt: skip
    return not unlike and not changed and accepted.total() >= scripts.LEAST_SHARE * (accepted.total() + refused)


PARTS: dict[str, Callable[[Path, argparse.Namespace], bool]] = {
    "demo": demo,
    "names": names,
    "pages": pages,
    "mocks": mocks,
    "advice": advice,
    "captures": captures,
    "proofs": proofs,
    "replays": replays,
    "trials": trials,
}


def proven(part: str, python: Path, asked: argparse.Namespace) -> bool:
    """Whether a part holds; and its minutes."""
    start = time.monotonic()
    holds = PARTS[part](python, asked)
    say(f"{part}: {(time.monotonic() - start) / 60:.1f} minutes")
    return holds


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", default=list(PARTS))
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the trials; another one every run")
    parser.add_argument("--count", type=int, default=20, help="trials per op and kind of device")
    parser.add_argument(
        "--only",
        metavar="FILE",
        help="tests/real/models/FILE.py of the captures, tests/real/proofs/FILE.py of the proofs",
    )
    parser.add_argument(
        "--call", metavar="FUNCTION", help="with --only: the proofs that call this function of TTNN"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes of TTNN at a time")
    parser.add_argument("--report", action="append", help="of the replays; all of them otherwise")
    asked = parser.parse_args()
    unknown = set(asked.parts) - set(PARTS)
    if unknown:
        parser.error(f"parts are {', '.join(PARTS)}")
    python = ready()
    failed = [part for part in asked.parts if not proven(part, python, asked)]
    say(f"make real: {'not proven: ' + ', '.join(failed) if failed else 'all of it holds'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
