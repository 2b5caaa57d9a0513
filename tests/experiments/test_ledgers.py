"""Ledgers that engineers published: their figures, cut to the columns that are read, and what the rules make of them.

From tt-metal's models/autoports: QWEN, qwen_qwen3_4b/doc/optimized_decoder/README.md at
https://github.com/tenstorrent/tt-metal/tree/ca9572d56c45b2ea9ce9bc407308e29d98212585; MUSE,
meta_models_muse_glimmer_30b/doc/datatype_sweep/sweep_results.csv at
https://github.com/tenstorrent/tt-metal/tree/18d0a461f0976a885444b8f310cc25c0fe554270; KOKORO,
hexgrad_kokoro_82m/doc/datatype_sweep/sweep_results.csv at
https://github.com/housTT/tt-metal/tree/db01b9069ed35b515fda61ae4d7fd2ca3ac0cd14.
"""

import pytest

from ttnn_mcp.errors import QuestionRefused, ReportMissing
from ttnn_mcp.experiments.ledgers import read_ledger
from ttnn_mcp.experiments.rules import by_blocks

QWEN = """\
# Trials

| Candidate | Real-weight decode PCC | Traced decode |
| --- | ---: | ---: |
| BFP8 attention, HiFi2 | `0.9994` | `0.9246 ms` |

| Candidate | PCC | Trace PCC | Traced decode | Decision |
| --- | ---: | ---: | ---: | --- |
| Baseline split gate/up | `0.99932` | `1.0` | `0.908376 ms` / `0.941775 ms` | Replaced. |
| Packed gate/up | `0.99932` | `1.0` | `0.896604 ms` / `0.895245 ms` | Legal, but slower. |
| All MLP intermediates in L1 | `0.99932` | `1.0` | `0.932405 ms` | Rejected, slower. |
| Explicit `out_subblock_w=2` | n/a | n/a | n/a | Rejected by TTNN. |

| Candidate | PCC | Traced decode | Decision |
| --- | ---: | ---: | --- |
| Current default programs | `0.99910` | `0.730616 ms` | Control. |
| Larger geometries | `0.97577` to `0.97822` | `0.624057` to `0.649396 ms` | Below 0.99 PCC. |
| Down 8-core `in0=19` | `0.99910` | `0.725967 ms` | Legal, no win. |
"""
MUSE = {
    "c00-baseline": "[37.213, 38.079, 38.023, 38.003, 38.058, 38.047, 38.064, 38.037, 38.015, 38.159, 37.986]",
    "c01-attn4": "[37.401, 38.251, 38.204, 38.145, 38.266, 38.205, 38.179, 38.188, 38.245, 38.175, 38.253]",
    "c04-mlp4-hifi2": "[28.391, 28.867, 28.887, 28.864, 28.879, 28.886, 28.885, 28.878, 28.870, 28.884, 28.894]",
    "c10-lm-head-bfp8": "[36.610, 37.363, 37.448, 37.421, 37.284, 37.385, 37.464, 37.439, 37.420, 37.425, 37.515]",
}
KOKORO = """\
id,desc,status,pcc_min,ttft_ms,tf_decode_t_s_u
baseline,bfp8 weights,pass,0.996999,16.2321,347.8455
bfp8_lofi,LoFi,fail,0.992827,17.9922,344.3197
mlp_bfp4_lofi,MLP in bfp4,fail,0.920851,15.7726,349.4615
bf16_weights,,pass,0.998931,13.9332,339.137
all_hifi4,not run,pass,,,
"""


@pytest.fixture
def read(tmp_path):
    def ledger(text, name="sweep_results.csv"):
        (tmp_path / name).write_text(text)
        return read_ledger(tmp_path / name)

    return ledger


def verdicts(ledger):
    return {one.change: one.verdict for one in ledger.experiments}


def test_a_work_log_in_markdown(read):
    ledger = read(QWEN, "README.md")
    assert verdicts(ledger) == {
        "Packed gate/up": "keep",
        "All MLP intermediates in L1": "inconclusive",  # between the two blocks of the control
        "Larger geometries": "revert",
        "Down 8-core in0=19": "inconclusive",
    }
    assert ledger.without == 1
    packed, _, larger, _ = ledger.experiments
    assert packed.change_share == pytest.approx(0.8959245 / 0.9250755 - 1)
    assert (packed.baseline.name, packed.pcc) == ("README.md: Baseline split gate/up", 0.99932)
    assert (packed.note, packed.judged_by) == ("Legal, but slower.", "wall")
    assert packed.measured == "Traced decode: wall 0.9251 -> 0.8959 ms (-3.2%)"
    assert (packed.wall_before_ms, packed.candidate.kernel_ns) == (pytest.approx(0.9250755), 895_924)
    assert (larger.pcc, larger.wall_after_ms) == (0.97577, pytest.approx(0.624057))
    assert larger.baseline.name.endswith("Current default programs")
    assert larger.baseline.id != packed.baseline.id


def test_a_sweep_with_rounds_ships_only_what_wins_in_all(read):
    rows = [f'{name},"{rounds}",{64 - place}' for place, (name, rounds) in enumerate(MUSE.items())]
    ledger = read("\n".join(["config_id,tf_decode_tok_s_u_rounds,ttft_ms_min", *rows]))
    assert [one.change for one in ledger.experiments] == ["c01-attn4", "c10-lm-head-bfp8", "c04-mlp4-hifi2"]
    won, overlaps, lost = ledger.experiments
    assert won.why.startswith("wall 26.29 -> 26.18 ms (-0.4%): not every block")
    assert (won.verdict, overlaps.verdict, lost.verdict) == ("inconclusive", "inconclusive", "revert")
    assert "not every block" in overlaps.why  # its best round beats the warm-up round of the control
    assert lost.change_share == pytest.approx(38.037 / 28.879 - 1)


def test_a_sweep_of_single_figures(read):
    ledger = read(KOKORO)
    assert verdicts(ledger) == {
        "mlp_bfp4_lofi: MLP in bfp4": "revert",
        "bfp8_lofi: LoFi": "revert",
        "bf16_weights": "revert",
    }
    by_pcc, said, slower = ledger.experiments
    assert by_pcc.why.startswith("the ledger says fail")
    assert said.why == "the ledger says fail; wall 2.875 -> 2.904 ms (+1.0%)"
    assert slower.noise_share == 0.02
    assert ledger.without == 1


def test_rows_of_one_name_are_blocks_and_other_batches_are_apart(read):
    ledger = read(
        "candidate,batch,rep,pcc,latency_us\ncontrol,1,0,0.9995,500\ncontrol,1,1,0.9995,510\ncontrol,32,0,1,900\n"
        "bfp8,1,0,1.0000001,480\nbfp8,1,1,0.999,490\nbfp8,32,0,-1.01,800\n ,1,0,1,1\n"
    )
    small, large = ledger.experiments
    assert (small.verdict, small.pcc, small.noise_share) == ("keep", 0.999, 0.005)
    assert (small.wall_before_ms, small.wall_after_ms) == (0.505, 0.485)
    assert (large.wall_before_ms, large.wall_after_ms, large.verdict, large.pcc) == (0.9, 0.8, "revert", -1.0)
    assert [one.uid for one in ledger.experiments] == [one.uid for one in read_again(read)]


def read_again(read):
    return read(
        "candidate,batch,rep,pcc,latency_us\ncontrol,1,0,0.9995,500\ncontrol,1,1,0.9995,510\ncontrol,32,0,1,900\n"
        "bfp8,1,0,1.0000001,480\nbfp8,1,1,0.999,490\nbfp8,32,0,-1.01,800\n ,1,0,1,1\n"
    ).experiments


@pytest.mark.parametrize(
    ("before", "after", "faster", "barrier"),
    [
        ((1.0,), (0.979,), True, False),
        ((1.0,), (0.981,), False, False),
        ((1.0, 1.0), (0.994, 0.994), True, False),
        ((1.0, 1.0), (0.996, 0.996), False, False),
        ((1.0, 1.1), (0.9, 0.99), True, False),
        ((1.0, 1.1), (0.9, 1.0), False, True),
        ((1.0, 1.1), (0.995,), True, False),
        ((1.0,), (0.9, 1.0), False, True),
    ],
)
def test_every_block_of_the_candidate_beats_every_block_of_the_control(before, after, faster, barrier):
    measured = by_blocks(before, after)
    assert (measured.faster, measured.barrier is not None) == (faster, barrier)
    worse = by_blocks(after, before)
    assert (worse.slower, worse.barrier is not None) == (faster, barrier)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "candidate,pcc,ms\nfirst,1,2\nsecond,1,1\n",  # no control
        "candidate,pcc,cores\nbaseline,1,2\nsecond,1,1\n",  # no time
        "op,pcc,ms\nbaseline,1,2\nsecond,1,1\n",  # no names
        "candidate,pcc,ms\nbaseline,1,0\nsecond,1,1\n",  # no time has passed
        "candidate,pcc,ms\nbaseline,1,2\n",  # nothing was tried
        'candidate,pcc,ms\nbaseline,1,2\nsecond,"1' + "1" * 200_000,
    ],
)
def test_what_is_no_ledger(read, text):
    with pytest.raises(QuestionRefused, match="no ledger"):
        read(text)


def test_no_file(tmp_path):
    with pytest.raises(ReportMissing, match="cannot be read"):
        read_ledger(tmp_path / "none.csv")
