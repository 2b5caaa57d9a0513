"""experts-not-chosen: a dense matmul over all experts behind a sparse one over some."""

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Placement, Program
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


def put_router(
    program, *, k=2, among=EXPERTS, tokens=1, batches=EXPERTS, made=False, where="DRAM", after=False, us=160, rows=1,
    between=(), products=2,
):  # fmt: skip
    scores = program.tensor([1, 1, tokens, among])
    chosen = DeviceOp("TopKDeviceOperation", (scores,), (program.tensor([1, 1, tokens, k]),), 9_000, attributes={"k": k})  # fmt: skip
    if not after:
        put(program, chosen)
    for name in between:
        put(program, DeviceOp(f"{name}DeviceOperation", (scores,), (program.tensor([1, 1, tokens, 64]),), 2_000))
    for _ in range(products):
        x, y = program.tensor([1, batches, rows, 256]), program.tensor([1, batches, rows, 768])
        w = program.tensor([1, batches, 256, 768], placement=Placement(where))
        if made:
            w = put(
                program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, batches, 256, 768]),), (w,), 5_000)
            )
        put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 1000 * us))
    if after:
        put(program, chosen)


def routed(**how) -> Program:
    program = Program("blackhole", grid=(11, 10))
    put_router(program, **how)
    return program


def test_a_grouped_gate_behind_a_top_k_tells_it_as_well(check):
    program = Program("blackhole", grid=(11, 10))
    put_router(program, among=64, products=0)
    put_router(program)
    router = program.device_ops[1]
    router.op_code, router.attributes = "MoeGroupedTopkDeviceOperation", {"n_activated_experts": 2}
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [2, 3]
    assert "sparsity=<1 where chosen, else 0>" in claim.fix


def test_one_token_chooses_as_many_as_its_router_says(check):
    outcome = check.ask(routed())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist(), claim.is_trial) == ([1, 2], [140_000] * 2, True)
    assert "2 matmuls multiply 16 experts (320 us, 96.4%) of which 2 are active" in claim.claim
    assert "sparsity=<1 where chosen, else 0>" in claim.fix
    assert "nnz=2" in claim.fix
    assert (case.line(0), "ATTRIBUTES.k") in cells(outcome)
    check.assert_sound(routed(), above=1)


def test_half_of_those_it_chooses_among_are_the_line(check):
    check.pair(lambda k: routed(k=k), silent=9, fires=8)
    check.pair(lambda experts: routed(among=experts, batches=experts), silent=15, fires=16)


@for_all(
    "how",
    [{"among": 32}, {"tokens": 2}, {"rows": 2}, {"made": True}, {"where": "L1"}, {"after": True}, {"products": 1},
     {"between": ("LayerNorm", "Softmax")}, {"between": ("LayerNorm",) * 2}, {"between": ("Softmax",) * 2}],
    ids=str,
)  # fmt: skip
def test_other_routers_rows_and_operands_are_none(check, how):
    assert check.ask(routed(**how)).status == "clean"


def test_the_last_router_counts_and_its_scores_may_become_shares(check):
    program = routed(k=8)
    put_router(program, k=4, between=["Softmax"])
    assert check.ask(program).claim.at_most_ns.tolist() == [80_000] * 2 + [120_000] * 2
    put_router(program, among=64, products=0)
    put_router(program, products=2, after=True)
    assert len(check.ask(program).claim.rows) == 4


def test_heads_of_attention_behind_a_norm_are_no_experts(check):
    """As many heads as experts, and products of one token over a cache in DRAM."""
    program = routed()
    put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, 1, 256]),) * 2, (program.tensor([1, 1, 1, 256]),), 9_000))  # fmt: skip
    q, keys, values = (program.tensor([1, EXPERTS, *sides]) for sides in ((1, 64), (64, 512), (512, 64)))
    weights = program.tensor([1, EXPERTS, 1, 512])
    put(program, DeviceOp("MatmulDeviceOperation", (q, keys), (weights,), 160_000))
    put(
        program,
        DeviceOp("MatmulDeviceOperation", (weights, values), (program.tensor([1, EXPERTS, 1, 64]),), 160_000),
    )
    assert check.ask(program).claim.rows.tolist() == [1, 2]


@for_all("nnz", ["0", "17"])
def test_an_nnz_of_none_or_of_more_than_half_tells_nothing(check, nnz):
    assert check.ask(experts(nnz=nnz)).status == "clean"


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_experts, 0.01, of="saving", arch="wormhole_b0")


def test_without_sparse_matmuls_or_operands(check, tmp_path):
    assert check.ask(experts(first="Matmul")).why == "no SparseMatmul and no TopK ops"
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
