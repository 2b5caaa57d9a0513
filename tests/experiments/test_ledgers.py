"""Ledgers that engineers published: their figures, cut to the columns that are read, and what the rules make of them.

From tt-metal's models/autoports: QWEN, qwen_qwen3_4b/doc/optimized_decoder/README.md at
https://github.com/tenstorrent/tt-metal/tree/ca9572d56c45b2ea9ce9bc407308e29d98212585; MUSE,
meta_models_muse_glimmer_30b/doc/datatype_sweep/sweep_results.csv at
https://github.com/tenstorrent/tt-metal/tree/18d0a461f0976a885444b8f310cc25c0fe554270; COHERE,
coherelabs_north_mini_code_1_0/doc/fused_decoder/performance_matrix.csv at
https://github.com/tenstorrent/tt-metal/tree/52479ea865e42d51f24bd227669e3d570c572e0e; KOKORO,
hexgrad_kokoro_82m/doc/datatype_sweep/sweep_results.csv at
https://github.com/housTT/tt-metal/tree/db01b9069ed35b515fda61ae4d7fd2ca3ac0cd14.
"""

import os

import pytest

from tests.for_all import for_all
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
OF_FAILURE = "fail|Failed: PCC|error,|10 errors|1.0 errors|no gain, failed|no errors, but failed|not ok: error"
OF_NONE = "|ok| OK, error below 1e-3|passed, 0 errors|no failures|ran without error|without any errors|0 failed"
OF_NONE += "|0 of 5 failed|errors: 0|errors=none|error-free|done (no errors)"
STATUSES = {text: cells is OF_FAILURE for cells in (OF_FAILURE, OF_NONE) for text in cells.split("|")}
COHERE = """\
kind,phase,batch,functional_mean_ms,fused_mean_ms,functional_min_ms,fused_min_ms
dense_full_rope,traced_decode,1,0.360533,0.334443,0.358995,0.331833
sliding_rope_moe,traced_decode,1,9.531956,6.703870,9.522514,6.689782
sliding_rope_moe,traced_decode,32,,8.410543,,8.400096
full_no_rope_moe,traced_decode,32,8.5,,8.4,
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


@for_all(
    ("columns", "control", "candidate", "times"),
    [
        (
            "decode_ms,all_ms",
            '5,"2.0, 2.1, 2.2"',
            '4,"1.0, 1.1, 1.2"',
            (2.1, 1.1),
        ),  # blocks are judged before one figure
        ("compile_s,wall_ms", "90,2", "80,1", (2, 1)),  # in seconds may stand how long the trial took
        ("decode_us", "9.5e2", "1.1E+4", (0.95, 11)),
        ("us", "999999.0", "1200000.5", (999.999, 1200.0005)),
        ("ms", '"1,234.5"', '"1,234,500"', (1234.5, 1_234_500)),
        ("ms", '"1,234.5, 1,236.5"', '"[500,510]"', (1235.5, 505)),
        ("ms", '"980,1005,990"', '"2.5,2.7"', (990, 2.6)),
        ("ms", "10.2 ± 0.1", "10.1 +/- 0.1", (10.2, 10.1)),
        ("ms", "10.2 (of 5 runs)", '"10.1* "', (10.2, 10.1)),
        ("ms", '"2.316 ms sweep, 2.220 ms earlier"', "900 us.", (2.316, 0.9)),
        ("latency", "0.6 to 0.7 ms", "500 \u00b5s / 502 us", (0.6, 0.501)),
        ("latency_s", "1.2", "1100 ms", (1200, 1100)),
        ("Latency (s)", "1.2", ".5", (1200, 500)),
        ("kernel [ns]", "1000", "1", (1e-3, 1e-6)),
        ("total", "1e9 ms", "2 s", (1e9, 2000)),
        ("seconds", "2", "1", (2000, 1000)),
        ("tokens_per_second", "10", "12.5", (100, 80)),
        ("decode tok/sec", "10", "16 (62 ms)", (100, 62.5)),
        ("img_s", "10", "20", (100, 50)),
        ("decode", "10 t/s/u", "20 tokens / s", (100, 50)),
        ("cost", "10 ms/token", "9 ms/token", (10, 9)),
        ("ms per 10 iterations", "123", "1 ms", (12.3, 0.1)),
        ("us_per_100_iters", "123", "12 ms per 4 iters", (1.23e-3, 3)),
        ("Latency (s)/ 2k tokens", "10", "9", (5, 4.5)),
        ("time", "10 ms / 4 runs", "8 ms (per 4 runs)", (2.5, 2)),
        ("ms per iteration", "10", "9 ms / 10 ms", (10, 9.5)),
        ("decode tok/s per 10 users", "10", "20", (100, 50)),
    ],
)
def test_a_figure_is_read_whole(read, columns, control, candidate, times):
    (one,) = read(f"candidate,{columns}\nbaseline,{control}\nfast,{candidate}\n").experiments
    assert (one.baseline.kernel_ns, one.candidate.kernel_ns) == tuple(round(time * 1e6) for time in times)


def test_a_figure_that_is_not_clear_is_left_out(read):
    cells = [
        '"500,510"',  # may be two figures
        '"100,200"',
        '"12,5"',  # may be 12.5
        '"12,5.0"',
        "10 -> 8",
        "10-12",
        "1 234.5",
        "8.0x",
        "8 %",
        "8 min",
        "5 runs in 3 ms",
        "0.6 to 0.7 us",  # of a column in ms
        '"1 ms, 2x"',
        '"0.5, 3, 2 us"',
        "0",
        "-8",
        "1e10",
        "9e-7",
    ]
    rows = [f"c{number},{cell}" for number, cell in enumerate(cells)]
    ledger = read("\n".join(["candidate,ms", "baseline,9", 'thousands,"100,201"', "none,n/a", "fast,8", *rows]))
    assert [one.change for one in ledger.experiments] == ["fast", "thousands"]
    assert ledger.without == 1
    for number, (cell, text) in enumerate(zip(cells, ledger.unread, strict=True)):
        assert text == f"c{number} says {cell.strip(chr(34))} in ms"
    ledger = read("name,phase,ms\nbaseline,a,9\nslow,a,8\nfast,a,8\nfast,a,7x\nbaseline,b,9x\nfast,b,8\n")
    assert ledger.unread == ("fast says 7x in ms", "baseline says 9x in ms")
    ledger = read("change,before_ms,after_ms\nfirst,2,1\nsecond,2,1x\nthird,2x,1\n")
    assert ledger.unread == ("second says 1x in after_ms", "third says 2x in before_ms")
    assert (len(ledger.experiments), ledger.without) == (1, 0)


@for_all(
    ("columns", "control", "candidate", "pcc"),
    [
        ("pcc,pcc_threshold,pcc_delta", "0.9995,0.95,0", "0.9996,0.95,0.0001", 0.9996),
        ("pcc,required PCC,PCC target,pcc_limit,pcc_pass,pcc_drop", "0.9995,0,0,0,1,0", "0.9996,0,0,0,0,0", 0.9996),
        ("pcc,pcc_min", "0.9995,0.95", "0.9996,0.95", 0.9996),  # the limit of all
        ("pcc,pcc_min", "0.9995,0.9991", "0.9996,0.9990", 0.9990),  # the least of each
        ("min_pcc", "0.95", "0.95", None),
        ("pcc_before,pcc_after", "0.97,0.97", "0.97,0.9996", 0.9996),
        ("baseline_pcc,new_pcc", "0.97,0.97", "0.97,0.9996", 0.9996),
        ("pcc_reference", "0.9995", "0.9996", 0.9996),  # against the reference
        ("pcc", "0.9995", "0.9996 (layer 0)", 0.9996),
        ("pcc", "0.9995", "layer 1: .9996.", 0.9996),
        ("pcc", "0.9995", '"K 0.9996, V 0.9991"', 0.9991),
        ("pcc", "0.9995", "[0.9996/0.9991]", 0.9991),
        ("pcc", "0.9995", "0.9996-0.9991", 0.9991),
        ("pcc", "0.9995", "0.9996 \u00b1 0.0001", 0.9996),
        ("pcc", "0.9995", ">= 0.999", 0.999),
        ("pcc,trace_pcc", "1,1", "0.9996,1", 0.9996),
        ("pcc,pcc_layer", "1,1", "0.9996,5", 0.9996),
        ("pcc,trace_pcc", "1,1", "n/a,0.9996", 0.9996),
        ("pcc", "1", "0", 0),
        *(
            ("pcc,trace_pcc", "1,1", f'"{cell}",1', None)
            for cell in (
                "< 0.99",
                "0.97 -> 0.9996",
                "0.9996 vs 0.97",
                "0.9996 -0.0002",
                "drop 0.0002",
                "0,9996",
                "1.5",
            )
        ),
        *(("trace_pcc,pcc", "1,1", f"1,{cell}", None) for cell in ("layer 0", "99.98%", "0.9e-3", "v0.9996")),
    ],
)
def test_the_pcc_is_that_of_the_candidate(read, columns, control, candidate, pcc):
    (one,) = read(f"candidate,ms,{columns}\nbaseline,2,{control}\nfast,1,{candidate}\n").experiments
    assert one.pcc == pcc


@for_all(
    "text",
    [
        "\ufeffcandidate,ms\nbaseline,2.5\nfast,1.5\n",
        "candidate;ms\nbaseline;2.5\nfast;1.5\n",
        "candidate;ms;note\nbaseline;2,5;a,b\nfast;1,5;\n",
        "candidate\tms\nbaseline\t2.5\nfast\t1.5\n",
    ],
)
def test_a_table_of_another_spreadsheet(read, text):
    (one,) = read(text).experiments
    assert (one.baseline.name, one.wall_before_ms, one.wall_after_ms) == ("sweep_results.csv: baseline", 2.5, 1.5)


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
    for status, failed in STATUSES.items():
        (one,) = read(f'candidate,Status,pcc,ms\nbaseline,ok,1,2\nfast,"{status}",1,1\n').experiments
        assert (one.why.startswith("the ledger says"), one.verdict == "revert") == (failed, failed), status
    (one,) = read("candidate,status,pcc,ms\nbaseline,ok,1,2\nfast,ok,1,1\nfast,failed,1,1\n").experiments
    assert one.verdict == "revert"
    (long,) = read(f"candidate,ms\nbaseline,2\n{'x' * 501},1\n").experiments
    assert long.change == "x" * 500
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


def test_both_sides_in_a_row(read):
    ledger = read(COHERE)
    assert [one.change for one in ledger.experiments] == [
        "dense_full_rope traced_decode 1: fused_mean_ms",
        "sliding_rope_moe traced_decode 1: fused_mean_ms",
    ]
    assert ledger.without == 2
    first, second = ledger.experiments
    assert first.change_share == pytest.approx(0.334443 / 0.360533 - 1)
    assert (first.verdict, first.judged_by, first.wall_before_ms) == ("inconclusive", "wall", 0.360533)
    assert "no PCC was given" in second.why
    assert len({one.id for each in ledger.experiments for one in (each.baseline, each.candidate)}) == 4
    ledger = read("config,before_pcc,after_pcc,before_s,after_s,old_ms,new_ms\nmm,0.97,0.9995,3,2,10,8\n")
    assert (ledger.experiments[0].wall_after_ms, ledger.experiments[0].pcc) == (8, 0.9995)
    (one,) = read("config,before_ms,after_ms,reference_pcc,pcc\nmm,10,8,0.97,0.9995\n").experiments
    assert (one.pcc, one.verdict) == (0.9995, "keep")
    cut_off = "| name | before_ms | after_ms |\n|---|---|---|\n| first | 2 | 1 |\n| second\n| third | 2\n"
    assert read(cut_off, "log.md").without == 2
    table = "| Change | PCC | Before | After |\n|---|---|---|---|\n| bfp8 MLP | 0.999 | 26.0 ms | 24.0 ms |\n"
    assert verdicts(read(table, "log.md")) == {"bfp8 MLP 0.999: After": "keep"}


@for_all("header", ["change,before_ms,faster_ms", "change,first_ms,after_ms", "change,before_us,after_ms"])
def test_two_columns_that_are_not_named_as_sides(read, header):
    with pytest.raises(QuestionRefused, match="no ledger"):
        read(f"{header}\nbfp8,2,1\n")


@pytest.fixture
def perf_reports(tmp_path):
    def of(**times):
        for name, us in times.items():
            place = tmp_path / f"{name.replace('__', '/')}.csv"
            place.parent.mkdir(exist_ok=True)
            rows = [f"{line},Matmul,{us},1.5" for line in (2, 3)]
            place.write_text("\n".join(["ID,OP Code,Device Time,Op-to-Op Gap", *rows, "4,Tilize,nan,\n"]))
        return tmp_path

    return of


def test_a_control_that_the_caller_names(tmp_path, perf_reports):
    (tmp_path / "grid.csv").write_text("config,pcc,ms\n8x4,0.999,2\n8x8,0.999,1.5\n8x2,0.999,4\n")
    ledger = read_ledger(tmp_path / "grid.csv", "8x4")
    assert verdicts(ledger) == {"8x8": "keep", "8x2": "revert"}
    assert {one.baseline.name for one in ledger.experiments} == {"grid.csv: 8x4"}
    for control in (None, "8x5"):
        with pytest.raises(QuestionRefused, match="or name it: `baseline`"):
            read_ledger(tmp_path / "grid.csv", control)
    folder = perf_reports(first=100, second=90)
    with pytest.raises(QuestionRefused, match="A folder needs CSVs of tt-perf-report, one of them named baseline"):
        read_ledger(folder)
    assert [one.change for one in read_ledger(folder, "first").experiments] == ["second"]


def test_a_folder_of_tables_of_tt_perf_report(perf_reports):
    """Blocks have names that end in a number; a file in a folder of its own is named by the folder."""
    folder = perf_reports(baseline_run1=100, baseline_run2=102, bfp8_run1=90, bfp8_run2=91, slow__perf_report=300)
    (folder / "notes.csv").write_text("who,what\n1,2\n")
    bfp8, slow = read_ledger(folder).experiments
    assert (bfp8.change, bfp8.judged_by, bfp8.noise_share, bfp8.wall_before_ms) == ("bfp8", "kernel", 0.005, None)
    assert bfp8.why.startswith("kernel 0.202 -> 0.181 ms (-10.4%), but no PCC")
    assert bfp8.candidate.kernel_ns == 181_000
    assert (slow.change, slow.verdict, slow.change_share) == ("slow", "revert", pytest.approx(600 / 202 - 1))


@for_all(
    ("before", "after", "faster", "barrier"),
    [
        ((1.0,), (0.979,), True, False),
        ((1.0,), (0.981,), False, False),
        ((1.0,), (1.0,), False, False),
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


@for_all(
    ("text", "missing"),
    [
        ("", "it has no table with rows"),
        ("candidate,pcc,ms\nfirst,1,2\nsecond,1,1\n", r"no row in candidate is named .* \(first, second\)"),
        (
            "candidate,pcc,cores\nbaseline,1,2\nsecond,1,1\n",
            r"no time of baseline .* among its columns \(candidate, pcc, cores\)",
        ),
        ("candidate,layer(s)\nbaseline,2\nsecond,1\n", "no time of baseline"),
        ("candidate,bytes_per_second\nbaseline,2\nsecond,1\n", "no time of baseline"),
        ("candidate,gb_s\nbaseline,2\nsecond,1\n", "no time of baseline"),
        ("op,pcc,ms\nbaseline,1,2\nsecond,1,1\n", r"no column of names .* \(op, pcc, ms\)"),
        ("candidate,pcc,ms\nbaseline,1,0\nsecond,1,1\n", "no figure is clear, as baseline says 0 in ms"),
        ("candidate,ms\nbaseline,n/a\nsecond,1\n", "no time of baseline"),
        ("candidate,pcc,ms\nbaseline,1,2\n", r"no other row beside baseline has a time \(baseline\)"),
        ('candidate,pcc,ms\nbaseline,1,2\nsecond,"1' + "1" * 200_000, "it has no table with rows"),
    ],
)
def test_what_is_no_ledger(read, text, missing):
    with pytest.raises(QuestionRefused, match=f"no ledger: {missing}"):
        read(text)


def test_a_ledger_is_read_whole_or_not_at_all(read):
    """Nothing behind a limit is left out in silence."""
    rows = "candidate,pcc,ms\nbaseline,1,2\nsecond,1,1,more than the header has\n"
    rows += ",".join(["x" * 100_000] * 20)
    rows = rows[:2_000_000]
    assert len(read(rows, "a.csv").experiments) == 1
    with pytest.raises(QuestionRefused, match=r"holds 2 MB, more than a ledger may \(2 MB\)"):
        read(rows + "\n", "b.csv")


def test_a_folder_is_read_whole_or_not_at_all(perf_reports, monkeypatch):
    folder = perf_reports(baseline=100, second=90)
    size = sum(file.stat().st_size for file in folder.iterdir())
    monkeypatch.setattr("ttnn_mcp.experiments.ledger_tables.MOST_BYTES", size)
    monkeypatch.setattr("ttnn_mcp.experiments.ledger_tables.MOST_FILES", 2)
    assert len(read_ledger(folder).experiments) == 1
    monkeypatch.setattr("ttnn_mcp.experiments.ledger_tables.MOST_BYTES", size - 1)
    with pytest.raises(QuestionRefused, match="more than a ledger may"):
        read_ledger(folder)
    perf_reports(third__perf_report=90)
    with pytest.raises(QuestionRefused, match="holds more than 2 CSVs"):
        read_ledger(folder)


def test_what_is_no_file_in_a_folder_is_passed_over(perf_reports):
    folder = perf_reports(baseline=100, second=90)
    os.mkfifo(folder / "pipe.csv")
    (folder / "gone.csv").symlink_to(folder / "nowhere")
    (folder / "empty.csv").write_text("OP Code,Device Time,Op-to-Op Gap\n")
    assert [one.change for one in read_ledger(folder).experiments] == ["second"]
    with pytest.raises(ReportMissing, match="cannot be read"):
        read_ledger(folder / "none.csv")
