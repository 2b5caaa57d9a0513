"""One campaign: an agent and the loop, on one simulated device, until the loop says stop."""

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.asking import ask, session
from tests.campaigns.device import LAYERS, NAMES, Levers, Profile, Truth, drawn, profiled

Agent = Literal["greedy", "stubborn", "lying", "forgetful"]
LEAST_NOISE = 0.005  # no loop takes a smaller change for a gain
MOST_TRIES = 2  # the loop never asks for a third: a liar spends his tries
CLEAR_GAIN = 0.05  # beyond any noise that a loop assumes
MOST_ROUNDS = 40  # 6 levers, and at most 2 tries of each of some 12 findings: more would be a livelock
LEVER_OF = {
    "matmul-small-blocks": "config",
    "matmul-without-config": "config",
    "norm-on-few-cores": "norm_cores",
    "matmul-activation-unfused": "fused_relu",
    "reshape-not-a-view": "no_reshape",
    "wide-weights": "weights",
    "fidelity-above-formats": "fidelity",
}
LIES = ("fewer layers", "zero times", "the same file", "cut rows")


@dataclass(frozen=True)
class Try:
    """One record. `at_most_us` is what the loop promised when it named the finding; None where the agent chose it."""

    finding: str
    lever: str | None
    lie: str | None
    verdict: str
    at_most_us: float | None


@dataclass
class Campaign:
    """What happened, and what was true."""

    agent: Agent
    truth: Truth
    levers: dict[str, Levers] = field(default_factory=dict)  # run id -> the program that it profiled
    false_keeps: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    tried: list["Try"] = field(default_factory=list)
    stop: str | None = None
    best: Levers = field(default_factory=Levers)
    rounds: int = 0

    @property
    def over_best(self) -> float:
        """True time of the loop's best program over that of the best there is; 1 is the optimum."""
        return self.truth.kernel_ns(self.best) / self.truth.kernel_ns(self.truth.best())


async def campaign(folder: Path, agent: Agent, seed: int) -> Campaign:
    """Play one campaign to its end; the reports are deleted afterwards."""
    player = _Player(folder / f"{agent}-{seed}", agent, random.Random(seed))  # noqa: S311
    try:
        return await player.play()
    finally:
        shutil.rmtree(player.folder, ignore_errors=True)


class _Player:
    def __init__(self, folder: Path, agent: Agent, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.seen = Campaign(agent, drawn(chance))
        self.at = session(folder)
        self.files = 0
        self.paths: dict[str, str] = {}

    async def play(self) -> Campaign:
        seen = self.seen
        start = await self.run_of(self.profile(Levers()), Levers())
        asked = {"baseline": start}
        while seen.rounds < MOST_ROUNDS:
            if seen.agent == "forgetful":
                self.at, asked = session(self.folder), asked if not seen.rounds else {}
            move = await ask(self.at, "experiments", action="next", **asked)
            best = move["best"]["run"]
            seen.best = seen.levers[best]
            decided = move["decided"]
            if decided["decision"] == "stop":
                seen.stop = decided["reason"]
                await self.note_missed(best)
                break
            seen.rounds += 1
            finding, at_most_us = decided["finding"], decided["saving_us"]["at_most"]
            self.note_repeat(finding, at_most_us, move["best"]["kernel_ms"] * 1e3)
            if seen.agent == "stubborn" and seen.tried and self.chance.random() < 0.4:
                finding, at_most_us = self.chance.choice(seen.tried).finding, None
            await self.attempt(best, finding, at_most_us)
            asked = {"baseline": best}
        return seen

    async def attempt(self, best: str, finding: str, at_most_us: float | None) -> None:
        """Apply what the finding stands for, profile, record; a liar shows a profile of something else."""
        seen = self.seen
        before = seen.levers[best]
        name = self.lever(finding, before)
        after = before.with_(name) if name else before
        lie = self.chance.choice(LIES) if seen.agent == "lying" and self.chance.random() < 0.5 else None
        if lie == "the same file" and len(self.paths) == 1:
            lie = None  # there is no other file yet
        if lie == "the same file":
            candidate = self.chance.choice([run for run in self.paths if run != best])
            path = self.paths[candidate]
        else:
            path = self.profile(after, lie)
            candidate = await self.run_of(path, after)
        told = {} if seen.agent == "forgetful" and seen.tried else {"baseline": best}
        recorded = await ask(
            self.at, "experiments", action="record", change=name or "as it was", finding=finding, candidate=path,
            pcc=seen.truth.pcc(after), **told,
        )  # fmt: skip
        verdict = recorded["experiment"]["verdict"]
        seen.tried.append(Try(finding, name, lie, verdict, at_most_us))
        if verdict == "keep":
            gained = seen.truth.kernel_ns(seen.levers[candidate]) < seen.truth.kernel_ns(before)
            if lie or not gained or seen.truth.pcc(seen.levers[candidate]) < 0.99:
                seen.false_keeps.append(f"{lie or 'no lie'}: {name}: {recorded['experiment']['why']}")

    def lever(self, finding: str, levers: Levers) -> str | None:
        """What the agent makes of a finding: the lever that it names, otherwise one that nothing names."""
        free = [name for name in NAMES if not getattr(levers, name)]
        named = LEVER_OF.get(finding)
        if named is not None:
            return named if named in free else None
        others = [name for name in free if name not in LEVER_OF.values() or self.chance.random() < 0.3]
        return self.chance.choice(others) if others else None

    def profile(self, levers: Levers, lie: str | None = None) -> str:
        self.files += 1
        how = Profile(layers=LAYERS - 1 if lie == "fewer layers" else LAYERS, zeros=lie == "zero times")
        path = profiled(self.folder / f"r{self.files}", self.seen.truth, levers, self.chance, how)
        if lie == "cut rows":
            lines = Path(path).read_text().splitlines(keepends=True)
            Path(path).write_text("".join(lines[: 1 + round(0.9 * len(lines))]))
        return path

    async def run_of(self, path: str, levers: Levers) -> str:
        run = (await ask(self.at, "open_run", performance=path))["id"]
        self.seen.levers[run], self.paths[run] = levers, path
        return run

    def note_repeat(self, finding: str, at_most_us: float, kernel_us: float) -> None:
        """Since its last keep, a finding is named twice at most, and after a revert only if it promises more."""
        tries = [each for each in self.seen.tried if each.finding == finding]
        kept = [place for place, each in enumerate(tries) if each.verdict == "keep"]
        tries = tries[kept[-1] + 1 :] if kept else tries
        reverted = bool(tries) and tries[-1].verdict == "revert"
        promised = [each.at_most_us for each in tries if each.at_most_us is not None]
        more = bool(promised) and at_most_us > promised[-1] + LEAST_NOISE * kernel_us
        if len(tries) >= 2 or (reverted and not more):
            self.seen.repeats.append(f"{finding} after {[each.verdict for each in tries]}")

    async def note_missed(self, best: str) -> None:
        """A stop is not justified while a finding names a lever that gains clearly and was not tried honestly, or often enough."""
        seen = self.seen
        now = seen.levers[best]
        kernel_ns = seen.truth.kernel_ns(now)
        for finding in (await ask(self.at, "optimization_check", run=best))["findings"]:
            name = LEVER_OF.get(finding["check"])
            if name is None or getattr(now, name) or not seen.truth.accurate[name]:
                continue
            gain = 1 - seen.truth.kernel_ns(now.with_(name)) / kernel_ns
            tries = [each for each in seen.tried if each.lever == name]
            honest = len(tries) >= MOST_TRIES or any(not each.lie for each in tries)
            if gain > CLEAR_GAIN and finding["saving_us"]["at_most"] > CLEAR_GAIN * kernel_ns / 1e3 and not honest:
                seen.missed.append(f"{finding['check']}: {name} would gain {gain:.1%}")
