"""sdpa-padded-chunks: few queries in long chunks, keys in chunks that do not divide them."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

ATTENTION = "ScaledDotProductAttention"
GRID = "compute_with_storage_grid_size=(x=8,y=8),"


def attend(
    program, q=64, k=64, *, queries=1, keys=352, name=ATTENTION, kernel_ns=82_000, config=True, head=128, grid=GRID
):
    """Qwen3-TTS: 8 heads of one query over 352 keys."""
    x, y = (program.tensor([1, 8, queries, head]) for _ in range(2))
    cache = [program.tensor([1, 4, keys, head]) for _ in range(2)]
    sizes = f"{grid}q_chunk_size={q},k_chunk_size={k}"
    said = {"is_causal": False, **({"program_config": f"SDPAProgramConfig({sizes})"} if config else {})}
    op = DeviceOp(f"{name}DeviceOperation", (x, *cache), (y,), kernel_ns, fidelity="HiFi4", attributes=said)
    put(program, op)


def attending(*chunks, **how):
    program = Program("wormhole_b0")
    attend(program, *chunks, **how)
    return program


def test_one_query_in_chunks_of_sixty_four_is_told(check):
    """82 us became 27: a half of the rows, and one chunk of keys in place of six."""
    outcome = check.ask(attending())
    claim = outcome.claim
    assert "chunks of 64 x 64 over 1 x 352 queries and keys" in claim.claim
    assert "compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=352" in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(82_000 * 5 / 6)]
    assert 82_000 - 27_000 <= outcome.at_most_ns <= 5 * 55_000


def test_a_config_without_a_grid_gets_that_of_the_device(check):
    program = Program("wormhole_b0")
    attend(program, grid="")
    assert "grid_size=device.compute_with_storage_grid_size(), q_chunk" in check.ask(program).claim.fix


def test_keys_of_a_paged_cache_are_those_up_to_the_end_of_the_prompt_s_chunk(check):
    """Its shape shows blocks: 128 queries behind 4096 keys fill chunks of 512 with 4224 keys, not with 64."""

    def paged(**start):
        made = attending(128, 512, queries=128, keys=64)
        made.device_ops[0].attributes.update(start)
        return made

    check.pair(lambda start: paged(chunk_start_idx=start), silent="4096", fires=None)
    tensor = "Tensor(storage=DeviceStorage())"
    check.pair(lambda start: paged(chunk_start_idx_tensor=start), silent=tensor, fires=None)
    few = check.ask(paged(chunk_start_idx="512")).claim
    assert "over 128 x 640 queries and keys" in few.claim
    assert "k_chunk_size=128," in few.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(attending())


def test_chunks_that_divide_the_keys_are_left_alone(check):
    """320 computes 640 keys (61 us), 352 all 352 (27 us)."""
    outcome = check.pair(lambda k: attending(32, k, kernel_ns=61_000), silent=352, fires=320)
    assert outcome.at_most_ns == pytest.approx(61_000 / 2)


def test_a_tenth_less_padding_is_the_line(check):
    """640 keys in chunks of 512 are 1024, of 320 none too many; 480 of 512 are a sixteenth."""
    check.pair(lambda keys: attending(32, 512, keys=keys), silent=480, fires=448)


def test_more_queries_are_other_checks(check):
    check.pair(lambda queries: attending(256, 352, queries=queries), silent=129, fires=128)


@for_all("name", ["ScaledDotProductAttentionDecode", "RingJointSDPA", "JointSDPA", "FlashMLA"])
def test_other_attention_has_other_chunks(check, name):
    check.pair(lambda one: attending(name=one), silent=name, fires=ATTENTION)


def test_a_chunk_that_does_not_fit_is_not_offered(check):
    """2048 keys and heads of 128: up to 512 at once; of wider heads fewer."""
    fix = check.ask(attending(64, 64, keys=2048)).claim.fix
    assert "k_chunk_size=512" in fix
    assert "k_chunk_size=256" in check.ask(attending(64, 64, keys=2048, head=512)).claim.fix


def test_chunks_of_keys_longer_than_were_measured_are_not_offered(check):
    """1280 keys are two chunks of 640, or four of 320."""
    assert "k_chunk_size=320" in check.ask(attending(64, 64, keys=1280)).claim.fix


def test_ops_that_are_short_or_no_attention_are_left_out_of_its_sum(check):
    program = attending()
    attend(program, name="MadeUpOfNoFamily")
    attend(program, kernel_ns=4_000)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_without_a_config_nothing_is_said(check):
    check.pair(lambda config: attending(config=config), silent=False, fires=True)


@for_all("config", [True, False])
def test_without_the_keys_nothing_is_said(check, config):
    program = attending(32, 352)
    x, y = (program.tensor([1, 8, 1, 128]) for _ in range(2))
    said = program.device_ops[0].attributes if config else {}
    put(program, DeviceOp(f"{ATTENTION}DeviceOperation", (x,), (y,), 82_000, fidelity="HiFi4", attributes=said))
    assert check.ask(program).status == "clean"


def test_five_microseconds_stay(check):
    check.pair(lambda ns: attending(kernel_ns=ns), silent=5_000, fires=5_600)
    assert check.ask(attending(kernel_ns=5_600)).at_most_ns == pytest.approx(600)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(attend, 0.01, of="saving")


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no fused attention"
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)
