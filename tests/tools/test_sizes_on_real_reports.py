"""What a default answer costs on a real report: every byte is read by an assistant."""

import pytest

from tests.asking import ask, required, session
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.wire import bytes_of

BYTES_AT_MOST = 6_000
ABOUT_A_RUN = [tool for tool in TOOLS if "run" in tool.arguments.model_fields and tool.name != "experiments"]


@pytest.mark.parametrize("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
async def test_a_default_answer_takes_at_most_six_kilobytes(tmp_path, name):
    at, path = session(tmp_path), str(shared(name))
    run = await at.run(path)
    ops = run.scope().ops
    heaviest = int(ops.lines[int(ops.numbers("kernel_ns").argmax())])
    answered = 0
    for tool in ABOUT_A_RUN:
        try:
            answer = await ask(at, tool.name, **required(tool, path, heaviest))
        except QuestionRefused:
            continue  # no memory report; an op without settings
        answered += 1
        assert bytes_of(answer) <= BYTES_AT_MOST, tool.name
    assert answered >= 10
