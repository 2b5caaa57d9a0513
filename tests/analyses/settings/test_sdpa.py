"""What the row of an attention op tells of its program, and which chunks are worth a trial."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import on_chip, ops_in, printing
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.sdpa import attention_in
from ttnn_mcp.hardware import TILE_BYTES

CONFIG = "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=4),q_chunk_size=128,k_chunk_size=256)"
SHARED = "max_cores_per_head_batch=16"


def prompt(program, *more, keys=1024, code="SDPAOperation"):
    q, k, v, out = (program.tensor([2, 8, rows, 128]) for rows in (512, keys, keys, 512))
    put(program, DeviceOp(code, (q, k, v, *more), (out,), 90_000, fidelity="HiFi2"))


def token(program, *more, queries=None, code="SdpaDecodeDeviceOperation"):
    q = queries or program.tensor([1, 8, 32, 128])
    k, v = (program.tensor([64, 8, 64, 128], dtype="BFLOAT8_B") for _ in range(2))
    put(program, DeviceOp(code, (q, k, v, *more), (program.tensor([1, 8, 32, 128]),), 90_000, fidelity="HiFi2"))


def words(program, *shape):
    return program.tensor([1, 1, *shape], dtype="INT32", layout="ROW_MAJOR")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    program = Program("wormhole_b0")
    prompt(program)
    prompt(program, program.tensor([2, 1, 512, 1024], dtype="BFLOAT4_B"))
    prompt(program, words(program, 1, 64), keys=64)
    prompt(program, code="RingJointSDPA")
    token(program)
    token(program, words(program, 1, 8), words(program, 8, 32))
    token(program, queries=program.tensor([1, 8, 32, 128], placement=height_sharded(32, 128, 8)))
    token(program, queries=program.tensor([1, 8, 32, 128], layout="ROW_MAJOR"))
    token(program, queries=program.tensor([1, 8, 32, 128], dtype="BFLOAT8_B"))
    made = ops_in(tmp_path_factory.mktemp("attention"), program)
    told = {"program_config": CONFIG, "k_chunk_size": "128", "is_causal": "true"}
    names = ("prompt", "masked", "paged prompt", "ring")
    names += ("token", "paged token", "on shards", "row major", "narrow")
    kept = {name: printing(op, **told) for name, op in zip(names, made, strict=True)}
    short = Program("wormhole_b0")
    prompt(short)
    token(short)
    folder = tmp_path_factory.mktemp("short")
    for name, op in zip(("prompt", "token"), ops_in(folder, short, without="INPUT_[2-9]"), strict=True):
        kept[f"{name} of two inputs"] = printing(op, **told)
    for name, op in zip(("prompt", "token"), ops_in(folder, short, without="INPUT_2_DATATYPE"), strict=True):
        kept[f"{name} of unknown type"] = printing(op, **told)
    return kept


@for_all(
    ("name", "more", "why"),
    [
        ("prompt", {}, None),
        ("ring", {}, "the program of RingJointSDPA is not modelled"),
        ("prompt of two inputs", {}, "is not modelled"),
        ("token of two inputs", {}, "is not modelled"),
        ("prompt of unknown type", {}, "unknown data type"),
        ("token of unknown type", {}, "its data types"),
        *(
            (name, {key: text}, "sliding windows, sinks")
            for name in ("prompt", "token")
            for key, text in (
                ("sliding_window_size", "512"),
                ("attention_sink", "1"),
                ("head_dim_v", "64"),
                ("use_mla", "1"),
            )
        ),
        ("prompt", {"sliding_window_size": "std::nullopt", "use_mla": "false"}, None),
        ("prompt", {"program_config": "SDPAProgramConfig(q_chunk_size=64)"}, "its grid is not known"),
        ("prompt", {"chunk_start_idx": "512"}, "page table"),
        ("paged prompt", {"chunk_start_idx": "512"}, None),
        ("token", {}, None),
        ("narrow", {}, None),
        ("token", {"is_causal": "false"}, "only if it is causal"),
        ("token", {"is_causal": None}, None),
        ("on shards", {}, "interleaved tiles"),
        ("row major", {}, "interleaved tiles"),
        ("token", {"k_chunk_size": None}, "its chunk"),
        ("token", {"k_chunk_size": "0"}, "its chunk"),
        ("token", {"k_chunk_size": "auto"}, "its chunk"),
        ("token", {"paged_attention": "1"}, "page table"),
        ("paged token", {"paged_attention": "1"}, None),
    ],
)
def test_forms_without_a_model_say_so(ops, name, more, why):
    attention = attention_in(printing(ops[name], **more))
    if why is None:
        assert not isinstance(attention, str)
    else:
        assert isinstance(attention, str)
        assert why in attention


@for_all("name", ["prompt", "token"])
def test_without_a_config_the_grid_is_the_chips(ops, name):
    bare = printing(ops[name], program_config=None)
    assert attention_in(bare).grid == (8, 8)
    assert "grid" in attention_in(on_chip(bare, cores=61))


def test_without_a_config_all_cores_may_share_a_token_s_head(ops):
    """Measured: a head of 8192 keys takes 64 cores of a Wormhole, not the 16 of a config that sets no number."""
    plans = [
        attention_in(printing(ops["token"], program_config=text)) for text in (None, f"{CONFIG[:-1]},{SHARED})")
    ]
    assert [plan.cores_per_head for plan in plans] == [64, 16]


def test_chunks_are_printed_or_a_tile(ops):
    """A q_chunk_size of 0, and a config that is not there: 32 rows (tt-metal #51911)."""
    plans = [attention_in(printing(ops["prompt"], program_config=text)) for text in (CONFIG, None)]
    plans.append(attention_in(printing(ops["prompt"], program_config=CONFIG.replace("=128", "=0"))))
    assert [(plan.q_chunk, plan.k_chunk) for plan in plans] == [(128, 256), (32, 32), (32, 256)]


@for_all(
    ("name", "more", "mask", "causal"),
    [
        ("prompt", {}, 0, True),
        ("prompt", {"is_causal": "false"}, 0, False),
        ("masked", {"is_causal": "false"}, TILE_BYTES["BFLOAT4_B"], False),
        ("masked", {"is_causal": None}, TILE_BYTES["BFLOAT4_B"], False),  # TTNN refuses both together
        ("paged prompt", {"chunk_start_idx": "512"}, 0, True),  # the fourth input is its page table
    ],
)
def test_the_fourth_input_is_a_mask(ops, name, more, mask, causal):
    plan = attention_in(printing(ops[name], **more))
    assert (plan.mask_bytes, plan.causal) == (mask, causal)


def test_a_chunk_of_a_prompt_attends_to_what_lies_before_it(ops):
    plan = attention_in(printing(ops["paged prompt"], chunk_start_idx="512"))
    assert (plan.start, plan.rows, plan.keys, plan.page_bytes) == (512, 512, 1024, 64 * 4)


@for_all(
    ("arch", "size"),
    [("wormhole_b0", 2 * 32 + 32 * 4), ("blackhole", 2 * 64 + 32 * 4)],  # eight positions, read twice, and 32 pages
)
def test_positions_and_pages_take_aligned_rows(ops, arch, size):
    paged = printing(ops["paged token"], paged_attention="1")
    plan = attention_in(on_chip(paged, arch))
    assert (plan.words_bytes, plan.keys, plan.paged) == (size, 32 * 64, True)


def test_positions_alone_are_read_twice(ops):
    plan = attention_in(ops["paged token"])
    assert (plan.words_bytes, plan.keys, plan.paged) == (2 * 32 + 2 * 32 * 4, 64, False)
    assert attention_in(ops["token"]).words_bytes == 0


def test_few_heads_take_half_a_tile_where_queries_are_bfloat16(ops):
    assert [attention_in(ops[name]).half_tiles for name in ("token", "narrow")] == [True, False]


@for_all(
    ("name", "setting", "choices"),
    [
        ("prompt", "q_chunk_size", (32, 64, 96, 128, 160, 192, 256, 320, 384, 512)),
        ("prompt", "k_chunk_size", (32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 1024)),
        ("token", "k_chunk_size", (32, 64, 96)),  # of 64 keys: up to the chunk that holds them all
        ("ring", "q_chunk_size", ()),
    ],
)
def test_chunks_up_to_the_one_that_holds_all_rows_are_tried(ops, name, setting, choices):
    assert settings_of(ops[name], 0).choices(setting) == choices


def test_a_chunk_tells_what_it_changes(ops):
    settings = settings_of(ops["prompt"], 0)
    trials = [settings.tried("q_chunk_size", 96), settings.tried("k_chunk_size", 512)]
    assert [trial.broken for trial in trials] == [("causal: as many keys as queries",)] * 2
    free = settings_of(printing(ops["prompt"], is_causal="false"), 0)
    assert free.tried("q_chunk_size", 96).change.endswith("512 rows are not a multiple of it: padded")
    assert free.tried("k_chunk_size", 512).change == "16 pairs of chunks per head become 8"
    full = printing(
        ops["prompt"], is_causal="false", compute_kernel_config="ComputeKernelConfig(dst_full_sync_en=1)"
    )
    assert "dst_full_sync_en" in settings_of(full, 0).tried("q_chunk_size", 64).unknown


def test_a_token_s_chunk_tells_how_many_a_core_reads(ops):
    settings = settings_of(printing(ops["paged token"], paged_attention="1"), 0)
    assert settings.tried("k_chunk_size", 96).broken
    assert "TTNN chooses" in settings.tried("k_chunk_size", 0).unknown
    trial = settings.tried("k_chunk_size", 256)
    assert trial.broken == ()
    assert trial.change == "16 chunks of keys per core become 8"
    assert trial.now == 128
