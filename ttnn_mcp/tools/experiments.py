"""experiments: the feedback loop's memory."""

from __future__ import annotations

from math import inf

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.experiments.experiment import LONGEST_TEXT
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.loop_answer import Answer, Arguments, blocks_of
from ttnn_mcp.tools.tool import Tool


async def experiments(session: Session, asked: Arguments) -> Answer:
    """The feedback loop's memory.

    record: one change with its PCC and runs; answers where it took hold, what is suspicious, and keep, revert or
    inconclusive. next: one finding to try, or why to stop. list: the story so far (best, target, log, checklist).
    target: when to stop.
    """
    from ttnn_mcp.tools.parts import loop_actions, loop_story  # noqa: PLC0415 - checks and store load with the first call

    _check(asked)
    match asked.action:
        case "record":
            if not (asked.change or "").strip():
                raise ArgumentsInvalid(
                    "experiments: 'change' is required to record: say what was changed, one thing."
                )
            return await loop_actions.record(session, asked)
        case "next":
            return await loop_story.next_move(session, asked.baseline)
        case "target":
            if asked.target is None:
                raise ArgumentsInvalid("experiments: 'target' is required, such as '10 ms' or '100 samples/s'.")
            return await loop_actions.set_target(session, asked, asked.target)
        case "export":
            return await loop_actions.export(session, asked.path)
        case "import":
            if asked.path is None:
                raise QuestionRefused("experiments: 'path' is required to import: the file an export wrote.")
            return await loop_actions.bring_in(session, asked.path, asked.baseline)
        case _:
            return await loop_story.tell(session, asked.baseline)


def _check(asked: Arguments) -> None:
    walls = asked.wall_before_ms, asked.wall_after_ms
    blocks = [one for side in walls if side is not None for one in blocks_of(side)]
    texts = {"change": asked.change, "hypothesis": asked.hypothesis, "note": asked.note}
    wrong = [
        *(["'step' is 1 to 7"] if asked.step is not None and asked.step not in STEP_TITLES else []),
        *(["'pcc' is -1 to 1"] if asked.pcc is not None and not -1 <= asked.pcc <= 1 else []),
        *(["'batch' is 1 or more"] if asked.batch < 1 else []),
        *(["'rounds' is 1 to 1000000"] if asked.rounds is not None and not 1 <= asked.rounds <= 10**6 else []),
        *(["'hours' is above 0"] if asked.hours is not None and not 0 < asked.hours <= 10**6 else []),
        *(["wall_before_ms and wall_after_ms come together"] if (walls[0] is None) != (walls[1] is None) else []),
        *(["wall times are positive"] if [] in walls or any(not 0 < one < inf for one in blocks) else []),
        *(
            f"'{name}' has more than {LONGEST_TEXT} characters"
            for name, text in texts.items()
            if len(text or "") > LONGEST_TEXT
        ),
    ]
    if wrong:
        raise ArgumentsInvalid(f"experiments: {'; '.join(wrong)}.")


TOOL = Tool(
    name="experiments",
    title="Experiments",
    arguments=Arguments,
    answer=Answer,
    ask=experiments,
    writes=True,
    search_hint="record change keep revert log progress checklist target iterate optimization pcc",
)
