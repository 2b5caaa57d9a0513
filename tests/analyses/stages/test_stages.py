"""Stages by what the ops show, and what is said of a pass."""

import asyncio

from tests.asking import session
from tests.for_all import for_all
from tests.language_model import HEADS, LAYERS, PROMPT, USERS, WIDTH, LanguageModel, attend_in_single_ops
from tests.profiles import Iteration, Program, write_performance_report
from tests.shared_reports import CLIP, DEEPLAB, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.analyses.stages.tokens import tokens_of

WARM = (Iteration(cold=True), Iteration())


def stages(folder, program, iterations=WARM):
    run = asyncio.run(session(folder).run(str(write_performance_report(folder, program, iterations))))
    scope = run.scope("last", None, None)
    return {stage.kind: stage for stage in stages_of(scope.critical, run.performance_report.signposts)}


def test_prefill_decode_and_sampling_share_out_every_op(tmp_path):
    found = stages(tmp_path, LanguageModel().prefill().decode().decode())
    assert [*found] == ["prefill", "decode", "sampling"]
    rows = sorted(row for stage in found.values() for row in stage.rows.tolist())
    assert rows == list(range(len(rows)))
    assert {kind: len(stage.rows) for kind, stage in found.items()} == {"prefill": 10, "decode": 22, "sampling": 4}
    assert {kind: stage.passes for kind, stage in found.items()} == {"prefill": 1, "decode": 2, "sampling": 2}
    assert found["sampling"].why == "ops after the LM head of lines 58, 71"
    often = LanguageModel().prefill().decode().decode().decode().decode()
    assert stages(tmp_path, often)["sampling"].why == "ops after the LM head of lines 84, 97, 110 and more"


@for_all(("causal", "kind"), [("true", "prefill"), ("false", "encoder")])
def test_attention_that_is_not_causal_is_an_encoder_s(tmp_path, causal, kind):
    assert [*stages(tmp_path, LanguageModel().prefill(causal=causal))] == [kind]


def test_logits_that_nobody_chooses_from_are_no_sampling(tmp_path):
    assert [*stages(tmp_path, LanguageModel().decode(sampled=False))] == ["decode"]


def test_a_model_without_attention_has_no_stages(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    assert stages(tmp_path, program) == {}


def test_tokens_are_read_off_the_queries(tmp_path):
    program = LanguageModel().prefill().decode().decode()
    run = asyncio.run(session(tmp_path).run(str(write_performance_report(tmp_path, program, WARM))))
    ops = run.scope("last", None, None).critical
    told = {stage.kind: tokens_of(ops, stage) for stage in stages_of(ops, run.performance_report.signposts)}
    assert (told["prefill"].users, told["prefill"].per_user, told["prefill"].cache_bytes) == (1, PROMPT, 0)
    assert (told["decode"].users, told["decode"].per_user) == (USERS, 1)
    assert told["decode"].cache_bytes == 2 * LAYERS * USERS * HEADS * 1024 * WIDTH * 1.0625
    assert told["decode"].cache_bytes_per_token == 2 * LAYERS * HEADS * WIDTH * 1.0625
    assert told["sampling"] is None


def patched(program, patches="Conv2d"):
    """A vision encoder: patches, then attention over all of them."""
    x = program.op(
        patches, [program.tensor([1, 1, 1024, 64]), program.weight([1, 1, 64, 512])], shape=[1, 1, 1024, 512]
    )
    for _ in range(LAYERS):
        q = program.op("NlpCreateHeadsDeviceOperation", [x], shape=[1, HEADS, 1024, WIDTH])
        y = program.op("SDPAOperation", [q, q, q], attributes={"is_causal": "false"})
        x = program.op("MatmulDeviceOperation", [y, program.weight([1, 1, 512, 512])], shape=[1, 1, 1024, 512])
    return program


@for_all("patches", ["Conv2d", "FoldDeviceOperation"])
def test_a_vision_encoder_before_a_language_model_is_called_one(tmp_path, patches):
    program = patched(LanguageModel(), patches)
    found = stages(tmp_path, program.prefill().decode())
    assert [*found] == ["encoder", "prefill", "decode", "sampling"]
    assert "a vision encoder" in found["encoder"].why
    assert {kind: len(stage.rows) for kind, stage in found.items()} == {
        "encoder": 10,
        "prefill": 10,
        "decode": 11,
        "sampling": 2,
    }


def test_an_encoder_of_text_is_no_vision_encoder(tmp_path):
    assert "vision" not in stages(tmp_path, LanguageModel().prefill(causal="false"))["encoder"].why


@for_all(("text", "kind"), [("vision tower", "encoder"), ("Prefill 128", "prefill"), ("decode_iter_3", "decode")])
def test_signposts_name_stages(tmp_path, text, kind):
    rows = [Iteration(cold=True), Iteration(signposts=(text, "over"))]
    assert [*stages(tmp_path, LanguageModel().decode(sampled=False), rows)] == [kind]


def test_integers_beside_the_queries_are_no_cache(tmp_path):
    """Latent attention has one cache: INPUT_2 are positions."""
    program = LanguageModel()
    q, cache, at = (
        program.tensor([1, USERS, HEADS, 576]),
        program.tensor([USERS, 1, 1024, 576]),
        program.tensor([1, 1, 1, 32], "INT32"),
    )
    x = program.op("EmbeddingsDeviceOperation", [program.weight([1, 1, 32_768, 512])], shape=[1, 1, USERS, 512])
    program.op("FlashMLADeviceOperation", [q, cache, at, x])
    path = write_performance_report(tmp_path, program, WARM)
    run = asyncio.run(session(tmp_path).run(str(path)))
    ops = run.scope("last", None, None).critical
    (stage,) = stages_of(ops, run.performance_report.signposts)
    told = tokens_of(ops, stage)
    assert (stage.kind, told.users) == ("decode", USERS)
    assert told.cache_bytes == USERS * 1024 * 576 * 2
    assert told.cache_bytes_per_token == 576 * 2


def real_stages(folder, name):
    run = asyncio.run(session(folder).run(str(shared(name))))
    scope = run.scope()
    return scope.critical, stages_of(scope.critical, run.performance_report.signposts)


@for_all(("name", "first"), [(CLIP, 955), (SEGFORMER, None)])
def test_real_encoders_with_attention_written_out_are_encoders(tmp_path, name, first):
    ops, (stage,) = real_stages(tmp_path, name)
    assert stage.kind == "encoder"
    assert "written out as single ops; no op fills a cache" in stage.why
    assert len(stage.rows) == len(ops)
    assert first is None or f"(line {first})" in stage.why


def test_a_real_vision_encoder_is_called_one(tmp_path):
    """SegFormer's first op with work is a conv that makes patches; CLIP's text begins with an embedding."""
    assert "a vision encoder" in real_stages(tmp_path / "a", SEGFORMER)[1][0].why
    assert "vision" not in real_stages(tmp_path / "b", CLIP)[1][0].why


@for_all("name", [DEEPLAB, OFT])
def test_real_convolutional_models_have_no_stages(tmp_path, name):
    assert real_stages(tmp_path, name)[1] == []


@for_all(("queries", "fills", "kind"), [(1, False, "decode"), (2, False, "encoder"), (64, True, "prefill")])
def test_attention_written_out_is_told_by_its_queries(tmp_path, queries, fills, kind):
    program = Program("wormhole_b0")
    for _ in range(2):
        attended = attend_in_single_ops(program, queries, 64)
        if fills:
            program.op("FillCacheDeviceOperation", [program.tensor([1, HEADS, 128, WIDTH]), attended])
    assert [*stages(tmp_path, program, [Iteration(cold=True)])] == [kind]


def test_padded_positions_of_a_cache_are_room_for_tokens(tmp_path):
    """A cache of one position takes a tile's 32: one more token adds a row, no tile."""
    program = LanguageModel()
    q, cache = program.tensor([1, USERS, HEADS, WIDTH]), program.tensor([USERS, 1, 1, WIDTH])
    program.op("SdpaDecodeDeviceOperation", [q, cache, cache])
    path = write_performance_report(tmp_path, program, WARM)
    run = asyncio.run(session(tmp_path).run(str(path)))
    ops = run.scope("last", None, None).critical
    (stage,) = stages_of(ops, run.performance_report.signposts)
    assert tokens_of(ops, stage).cache_bytes_per_token == 2 * WIDTH * 2
