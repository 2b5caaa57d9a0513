"""What a default answer costs on a real report: every byte is read by an assistant."""

import pytest

from tests.asking import ask, reader, required
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, SHARED, shared
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.shell.check_screen import check_screen
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.wire import bytes_of

BYTES_AT_MOST = 6_300
ABOUT_A_RUN = [tool for tool in TOOLS if "run" in tool.arguments.model_fields and tool.name != "experiments"]
MEMORY = sorted(str(path.parent.relative_to(SHARED.parent)) for path in SHARED.parent.rglob("db.sqlite"))


async def answers_of(at, path, op) -> int:
    """How many tools answered; every answer within the limit."""
    answered = 0
    for tool in ABOUT_A_RUN:
        try:
            answer = await ask(at, tool.name, **required(tool, path, op))
        except QuestionRefused:
            continue  # the other report is not there; an op without settings
        answered += 1
        assert bytes_of(answer) <= BYTES_AT_MOST, tool.name
        if tool.name == "optimization_check" and "predicted" not in answer:
            fits_a_terminal(answer)
    return answered


def fits_a_terminal(answer):
    """The first screen of `check`: 24 lines of 80 columns with window, times, verdict, plan and what to do first."""
    lines = check_screen(answer, run="a-run-id", width=80).splitlines()
    assert len(lines) <= 24
    assert max(len(line) for line in lines) <= 80
    text = " ".join(" ".join(lines).split())
    for words in (f"a-run-id: {answer['window']['kind'].replace('_', ' ')}", "; wall time ", "; speed of light ",
                  " times its speed of light", "The plan ", " expected at most accuracy 1 ", "Do this first: ",
                  " check a-run-id --details 1 ", " check a-run-id --all"):  # fmt: skip
        assert words in text, words


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER])
async def test_a_default_answer_takes_little_more_than_six_kilobytes(tmp_path, name):
    at, path = reader(tmp_path), str(shared(name))
    run = await at.run(path)
    ops = run.scope().ops
    heaviest = int(ops.lines[int(ops.numbers("kernel_ns").argmax())])
    assert await answers_of(at, path, heaviest) >= 10


@pytest.mark.sampled(18, checked=3)
@pytest.mark.parametrize("name", MEMORY or ["none"])
async def test_a_default_answer_about_a_memory_report_takes_no_more(tmp_path, name):
    shared("memory")  # skips where the reports are not beside the checkout
    at, path = reader(tmp_path), str(SHARED.parent / name)
    ids = (await at.run(path)).memory_report.operations.ids
    assert await answers_of(at, path, int(ids[len(ids) // 2])) >= 5
