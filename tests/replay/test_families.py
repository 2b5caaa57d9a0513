"""The call behind each kind of device op, by the attributes of its row; and what of a row is not rebuilt."""

import ast
import re

import pytest

from tests.asking import ask, session
from tests.profiles import L1
from tests.replay.rows import NOT_REBUILT, OPS, RELU, X, of_users, report_of
from ttnn_mcp.errors import QuestionRefused


@pytest.fixture
def called(tmp_path):
    """The calls that are written of rows: of each its call, its reference, its whole script and the answer."""

    async def of(*rows):
        at, report, path = session(tmp_path), report_of(tmp_path / "perf", rows), tmp_path / "script.py"
        for line in range(2, 2 + len(rows)):
            try:
                answer = await ask(at, "replay_op", run=report, op=line, path=str(path), sweep=[])
            except QuestionRefused as refused:
                yield str(refused), None, "", {}
                continue
            text = path.read_text()
            tree = ast.parse(text)
            parts = {
                getattr(one, "name", ""): ast.unparse(one.body[-1]) for one in tree.body if hasattr(one, "body")
            }
            yield parts["call"], parts.get("reference"), text, answer

    return of


async def test_an_op_is_called_with_what_its_row_prints(called):
    written = [one async for one in called(*(row for row, *_ in OPS))]
    assert len(written) == len(OPS)
    for (row, call, reference), (wrote, compared, *_) in zip(OPS, written, strict=True):
        assert call in wrote, row
        assert (reference or "") in (compared or ""), row
        assert (reference is None) == (compared is None), row


async def test_what_a_row_does_not_tell_is_said_and_not_made_up(called):
    written = [one async for one in called(*(row for row, _ in NOT_REBUILT))]
    for (row, why), (said, *_) in zip(NOT_REBUILT, written, strict=True):
        assert re.search(f"cannot be replayed from this report: .*({why})", said), (row, said)


async def test_the_heads_of_each_user_lie_on_a_core_of_his_own(called):
    cores = {
        8: ["0, 0", "7, 0"], 16: ["0, 0", "7, 1"], 4: ["0, 0", "3, 0"], 32: ["0, 0", "7, 3"],
    }  # fmt: skip
    wrote = [one async for one in called(*map(of_users, cores))]
    for places, (_, _, text, answer) in zip(cores.values(), wrote, strict=True):
        assert (
            re.findall(r"CoreCoord\((\d, \d)\)", text[text.index("def operands") : text.index("def call")])
            == places
        )
        assert "TensorMemoryLayout.HEIGHT_SHARDED" in text
        assert "[32, 64], ttnn.ShardOrientation.ROW_MAJOR" in text
        assert "no report prints the shards of INPUT_0: a shard per user, on the first cores" in answer["assumed"]


async def test_a_matmul_is_compared_with_its_bias_and_its_function(called):
    config = f"MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=8);in0_block_w=2;fused_activation={RELU})"
    config = config.replace("{BasicUnaryWithParam<float; int>(base=", "").replace("param={}))}", "param={})")
    rows = [
        ("MatmulDeviceOperation", [X, X, (1, 1, 1, 64)], X, {"program_config": config}),
        ("MinimalMatmulDeviceOperation", [X, X, (1, 1, 1, 64)], X, {}),
    ]
    (call, reference, _, answer), (minimal, least, *_) = [one async for one in called(*rows)]
    assert "bias=x[2]" in call
    assert "torch.relu(x[0] @ x[1] + x[2])" in reference
    assert answer["assumed"] == ["made-up values"]
    assert "bias_tensor=x[2]" in minimal
    assert "x[0] @ x[1] + x[2]" in least


async def test_what_is_assumed_of_an_op_is_said(called):
    rows = {str(row[1]): row for row, *_ in OPS if row[0] in ("SdpaDecodeDeviceOperation", "MatmulDeviceOperation")}
    alone, paged, latent, with_bias, in_blocks = [one async for one in called(*rows.values())]
    assert alone[3]["assumed"][0] == "the position is not in a report: 127, the last, which takes longest"
    assert "1023, the last" in paged[3]["assumed"][0]
    assert "127, the last" in latent[3]["assumed"][0]
    shards = "no report prints the shards of INPUT_0: they follow from those of the result"
    assert with_bias[3]["assumed"][:2] == [shards, "its bias is one row, which the report prints filled up"]
    assert '"shape": (1, 1, 1, 64)' in with_bias[2]
    assert '[64, 64], ttnn.ShardOrientation.ROW_MAJOR)), "values"' in with_bias[2]
    assert in_blocks[3]["assumed"][0] == shards


async def test_a_matmul_on_shards_is_given_no_config_of_ours(tmp_path):
    rows = [row for row, *_ in OPS if row[0] == "MatmulDeviceOperation"]
    run, at = report_of(tmp_path / "perf", rows), session(tmp_path)
    for line, _ in enumerate(rows, 2):
        answer = await ask(at, "replay_op", run=run, op=line, path=str(tmp_path / "s.py"))
        assert "candidates" not in answer


async def test_an_operand_in_l1_is_made_there(called):
    x = (X, {"placement": L1})
    ((_, _, text, _),) = [one async for one in called(("UnaryDeviceOperation", [x], x, {"op_chain": RELU}))]
    assert '"layout": ttnn.TILE_LAYOUT, "memory": ttnn.L1_MEMORY_CONFIG' in text
