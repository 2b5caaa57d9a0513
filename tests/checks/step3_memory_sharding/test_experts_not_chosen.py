"""experts-not-chosen: a dense matmul over all experts behind a sparse one over some."""

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

EXPERTS = 16


def put_experts(
    program,
    *,
    nnz="2",
    between=("Slice", "BinaryNg"),
    down="Matmul",
    experts=EXPERTS,
    batched=True,
    first="SparseMatmul",
    taken=EXPERTS,
    us=160,
):
    x, w = program.tensor([1, 1, 1, 256]), program.tensor([1, EXPERTS, 256, 512])
    y = DeviceOp(f"{first}DeviceOperation", (x, w), (program.tensor([1, EXPERTS, 32, 512]),), 30_000, attributes={"nnz": nnz})  # fmt: skip
    y = put(program, y)
    for name in between:
        y = put(program, DeviceOp(f"{name}DeviceOperation", (y,), (program.tensor([1, taken, 32, 256]),), 5_000))
    w = program.tensor([1, experts if batched else 1, 256, 768])
    put(program, DeviceOp(f"{down}DeviceOperation", (y, w), (program.tensor([1, max(taken, experts), 32, 768]),), 1000 * us, attributes={"bcast_batch": 0}))  # fmt: skip


def experts(**how) -> Program:
    program = Program("blackhole", grid=(11, 10))
    put_experts(program, **how)
    return program


def test_all_experts_behind_two_are_told(check):
    outcome = check.ask(experts())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([3], [140_000])
    assert claim.claim.startswith("1 matmul multiplies 16 experts (160 us, 78.2%) of which 2 are active: 16x32x256")
    assert "is_input_a_sparse=True" in claim.fix
    assert "nnz=2" in claim.fix
    assert (case.line(0), "ATTRIBUTES.nnz") in cells(outcome)


def test_texts_are_short(check):
    check.assert_sound(experts(), above=3)


def test_an_op_faster_than_its_bytes_promises_nothing(check):
    assert check.ask(experts(us=1)).status == "clean"


def test_half_of_the_experts_are_the_line(check):
    check.pair(lambda nnz: experts(nnz=str(nnz)), silent=9, fires=8)


@for_all(
    "how",
    [{"nnz": "std::nullopt"}, {"between": ("Slice", "LayerNorm")}, {"between": ("Slice",) * 7}, {"batched": False},
     {"down": "SparseMatmul"}, {"taken": 1}, {"taken": 8, "experts": 8}],
    ids=str,
)  # fmt: skip
def test_others_are_none(check, how):
    assert check.ask(experts(**how)).status == "clean"


def test_six_steps_back_are_the_most(check):
    check.pair(lambda steps: experts(between=("Slice",) * steps), silent=7, fires=6)


def test_the_models_input_is_not_what_the_last_op_wrote(check):
    program = Program("blackhole", grid=(11, 10))
    x, w = program.tensor([1, EXPERTS, 32, 96]), program.tensor([1, EXPERTS, 96, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, EXPERTS, 32, 64]),), 90_000))
    x, w = program.tensor([1, 1, 1, 256]), program.tensor([1, EXPERTS, 256, 512])
    y = DeviceOp("SparseMatmulDeviceOperation", (x, w), (program.tensor([1, EXPERTS, 32, 512]),), 30_000, attributes={"nnz": "2"})  # fmt: skip
    put(
        program,
        DeviceOp("UnaryDeviceOperation", (put(program, y),), (program.tensor([1, EXPERTS, 32, 128]),), 5_000),
    )
    assert check.ask(program).status == "clean"


def test_moves_may_stand_between(check):
    assert check.ask(experts(between=("InterleavedToSharded", "Permute", "Unary"))).fires


def test_two_are_one_claim(check):
    program = experts()
    put_experts(program, nnz="4", between=("Unary",))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [3, 6]
    assert claim.at_most_ns.tolist() == [140_000, 120_000]
    assert claim.claim.startswith("2 matmuls multiply 16 experts (320 us")


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_experts, 0.01, of="saving", arch="wormhole_b0")


def test_without_sparse_matmuls_or_operands(check, tmp_path):
    assert check.ask(experts(first="Matmul")).why == "no SparseMatmul ops"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), experts())), "INPUT_n")
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), experts())), "ATTRIBUTES")


def test_a_sparse_matmul_at_the_end_is_behind_none(check):
    program = Program("blackhole", grid=(11, 10))
    x = program.tensor([1, EXPERTS, 32, 256])
    for kind, out in (("Matmul", 768), ("SparseMatmul", 512)):
        w = program.tensor([1, EXPERTS, 256, out])
        op = DeviceOp(f"{kind}DeviceOperation", (x, w), (program.tensor([1, EXPERTS, 32, out]),), 160_000)
        op.attributes = {"nnz": "2"}
        put(program, op)
    assert check.ask(program).status == "clean"
