"""Which stage an attention belongs to."""

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.language_model import HEADS, WIDTH, attend_in_single_ops
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.analyses.stages.attentions import attentions_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance

CACHE = "UpdateKVCacheOperation"
LOOK_UP = "EmbeddingsDeviceOperation"
CAUSAL, SELF, IMAGE, ONE = (128, 128, "true"), (128, 128, "false"), (128, 1_632, "false"), (1, 1_500, "false")
DECODES = "SdpaDecodeDeviceOperation"


def kinds(folder, *parts, without=""):
    """The kinds of attentions of so many queries and keys, with other ops by name between them."""
    program = Program("wormhole_b0")
    for part in parts:
        if isinstance(part, str):
            program.op(part, [program.tensor([1, 1, 32, 512])])
        else:
            queries, keys, causal = part
            q, k = program.tensor([1, 8, queries, 64]), program.tensor([1, 8, keys, 64])
            printed = {} if causal is None else {"is_causal": causal}
            program.op("SDPAOperation", [q, k, k], shape=[1, 8, queries, 64], attributes=printed)
    return [(each.kind, each.why) for each in attentions_of(ops_of(folder, program, without=without))]


@for_all(
    ("parts", "expected"),
    [
        ([CAUSAL, IMAGE, CAUSAL, IMAGE], ["prefill"] * 4),
        ([IMAGE, CAUSAL], ["prefill"] * 2),
        ([SELF, SELF, CAUSAL, IMAGE], ["encoder", "encoder", "prefill", "prefill"]),
        ([DECODES, ONE, DECODES, ONE], ["decode"] * 4),
        ([SELF, LOOK_UP, IMAGE, CAUSAL], ["encoder", "prefill", "prefill"]),
        ([CAUSAL, LOOK_UP, ONE], ["prefill", "decode"]),
        ([CAUSAL, LOOK_UP, IMAGE], ["prefill", "encoder"]),
        ([IMAGE, LOOK_UP, CAUSAL], ["encoder", "prefill"]),
        ([ONE, ONE], ["decode"] * 2),
        ([(2, 1_500, "false")], ["encoder"]),
        ([(128, 128, None)], ["encoder"]),
        ([(128, 128, None), CACHE], ["prefill"]),
        ([SELF, CACHE], ["encoder"]),
        ([CACHE, SELF, SELF], ["prefill", "encoder"]),
        ([CACHE, SELF, CACHE, SELF], ["prefill"] * 2),
        ([CACHE, (1, 1, "false")], ["encoder"]),
        ([CACHE, IMAGE], ["prefill"]),
    ],
)
def test_an_attention_is_of_its_mask_its_caches_or_its_neighbours(tmp_path, parts, expected):
    assert [kind for kind, _ in kinds(tmp_path, *parts)] == expected


def test_the_reason_is_what_the_row_shows(tmp_path):
    (_, causal), (_, image) = kinds(tmp_path / "a", CAUSAL, IMAGE)
    assert causal == "causal attention"
    assert image == "attention of 128 queries to 1632 keys, not causal, among prefill: causal attention"
    assert kinds(tmp_path / "b", SELF) == [("encoder", "attention that is not causal")]
    assert "does not print is_causal" in kinds(tmp_path / "c", (128, 128, None))[0][1]
    assert kinds(tmp_path / "d", CACHE, SELF)[0][1] == "attention behind ops that fill a cache"
    assert kinds(tmp_path / "f", CAUSAL, IMAGE, without="^INPUT_2")[1][0] == "prefill"
    assert kinds(tmp_path / "e", IMAGE, without="^INPUT_[12]")[0] == ("encoder", "attention that is not causal")


def test_an_attention_whose_keys_no_cell_shows_is_one_to_itself(tmp_path):
    program = Program("wormhole_b0")
    q = program.tensor([1, 8, 128, 64])
    program.op("SDPAOperation", [q], attributes={"is_causal": "false"})
    program.op("BinaryNgDeviceOperation", [q, q])
    (found,) = attentions_of(ops_of(tmp_path, program))
    assert (found.kind, found.why, found.queries) == ("encoder", "attention that is not causal", 0)


def test_a_trace_of_its_own_parts_an_attention_from_its_neighbours(tmp_path):
    program = Program("wormhole_b0")
    for queries, keys, causal in (CAUSAL, IMAGE):
        q, k = program.tensor([1, 8, queries, 64]), program.tensor([1, 8, keys, 64])
        program.op("SDPAOperation", [q, k, k], shape=[1, 8, queries, 64], attributes={"is_causal": causal})
    rows = performance_rows(program, [Iteration()])
    rows[1]["METAL TRACE ID"] = 2
    report = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert [each.kind for each in attentions_of(report.ops)] == ["prefill", "encoder"]


@for_all(
    ("scores", "near", "far", "kind"),
    [
        ((64, 64), False, False, "encoder"),
        ((64, 16), False, False, "encoder"),
        ((64, 16), False, True, "encoder"),
        ((64, 16), True, False, "prefill"),
        ((64, 64), False, True, "prefill"),
        ((1, 64), False, False, "decode"),
        ((1, 1), False, False, "encoder"),
    ],
)
def test_attention_written_out_is_told_by_its_scores(tmp_path, scores, near, far, kind):
    program = Program("wormhole_b0")
    cache = program.tensor([1, HEADS, 128, WIDTH])
    if near:
        program.op("FillCacheDeviceOperation", [cache, cache])
    attend_in_single_ops(program, *scores)
    if far:
        program.op("FillCacheDeviceOperation", [cache, cache])
    (found,) = attentions_of(ops_of(tmp_path, program))
    assert found.kind == kind
    assert ("of one query" in found.why) is (kind == "decode")
