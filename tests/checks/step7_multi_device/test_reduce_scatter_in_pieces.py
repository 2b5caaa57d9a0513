"""reduce-scatter-in-pieces: what TTNN does around an exchange that cuts tiles apart."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.mesh_programs import mesh
from tests.checks.rows import ONE_PASS, pass_time, put
from tests.for_all import for_all
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary
from tests.shared_reports import CLIP, DEEPSEEK

DEVICES = 4
NS = 5_000


def step(program, name, x, shape, kernel_ns=NS):
    return put(program, DeviceOp(f"{name}DeviceOperation", (x,), (program.tensor(shape),), kernel_ns))


def scattered(program, *, devices=DEVICES, pieces=DEVICES, joined="Concat", kind="ReduceScatter", after="Slice"):
    """0.81.1 for 2880 columns: slices, untilize, tilize and fill per piece, a concat, the exchange, a slice."""
    x = put(program, unary("RELU", *(program.tensor([1, 1, 32, 1440]) for _ in range(2)), 20_000))
    parts = []
    for place in range(max(0, pieces - 1)):
        name = ("Slice", "UntilizeCodegen", "TilizeWithValPadding", "FillPad")[place % 4]
        parts.append(step(program, name, x, [1, 1, 32, 384]))
    x = parts[-1] if parts else x
    whole = program.tensor([1, 1, 32, 1536])
    if joined:
        put(program, DeviceOp(f"{joined}DeviceOperation", (x,), (whole,), 7_000))
    else:
        put(program, unary("TANH", whole, whole, 7_000))
    mine = program.tensor([1, 1, 32, 384])
    put(program, collective(kind, whole, mine, 60_000, ring_size=devices))
    if after:
        step(program, after, mine, [1, 1, 32, 360], 3_000)


def of_scattered(devices=DEVICES, **how):
    program = mesh(devices=devices)
    scattered(program, devices=devices, **how)
    return program


def test_all_pieces_around_the_exchange_may_go(check):
    outcome = check.ask(of_scattered())
    claim = outcome.claim
    assert claim.at_most_ns.tolist() == [NS, NS, NS, 7_000, 3_000]
    assert claim.claim.startswith(
        "Reduce-scatters over a dim that cuts tiles apart (1x), with 5 slices, conversions and pads around (25 us"
    )
    assert "ttnn.reduce_scatter(x, dim=2)" in claim.fix
    assert "ttnn.all_reduce(x)" in claim.fix
    check.assert_sound(of_scattered())


def test_the_exchange_itself_stays(check):
    outcome = check.ask(of_scattered())
    assert 60_000 not in outcome.case.kernel_ns[outcome.claim.rows]


def test_one_piece_per_device_is_the_line(check):
    check.pair(lambda pieces: of_scattered(pieces=pieces), silent=DEVICES - 1, fires=DEVICES)


@for_all("joined", ["Concat", "Pad"])
def test_the_exchange_reads_what_was_put_together(check, joined):
    assert check.ask(of_scattered(joined=joined)).fires


@for_all("how", [{"joined": None}, {"kind": "AllGatherAsync"}], ids=["written whole by an op", "another exchange"])
def test_other_exchanges_are_left_alone(check, how):
    assert check.ask(of_scattered(**how)).status == "clean"


@for_all("made", [True, False])
def test_pieces_of_another_tensor_are_the_models(check, made):
    """The exchange reads what an op wrote whole, or what no op made; the last op of the window is a concat."""
    program = mesh()
    whole = program.tensor([1, 1, 32, 1536])
    if made:
        put(program, unary("RELU", program.tensor([1, 1, 32, 1536]), whole, 20_000))
    for columns in range(1, 6):
        step(program, "Slice", whole, [1, 1, 32, 32 * columns])
    mine = program.tensor([1, 1, 32, 384])
    put(program, collective("ReduceScatter", whole, mine, 60_000, ring_size=DEVICES))
    step(program, "Concat", mine, [1, 1, 32, 768])
    assert check.ask(program, ONE_PASS).status == "clean"


def test_only_a_slice_of_its_result_belongs_to_it(check):
    assert len(check.ask(of_scattered(after="Tanh")).claim.rows) == DEVICES
    program = of_scattered(after=None)
    other = put(program, unary("RELU", *(program.tensor([1, 1, 64, 64]) for _ in range(2)), 20_000))
    step(program, "Slice", other, [1, 1, 32, 64])
    assert len(check.ask(program).claim.rows) == DEVICES


def test_two_exchanges_have_their_own_pieces(check):
    program = of_scattered()
    x = put(program, unary("RELU", *(program.tensor([1, 1, 64, 64]) for _ in range(2)), 20_000))
    put(program, unary("TANH", x, program.tensor([1, 1, 64, 64]), 20_000))
    scattered(program, pieces=6)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("Reduce-scatters over a dim that cuts tiles apart (2x)")
    assert len(outcome.claim.rows) == 5 + 7


def test_one_percent_of_the_window_is_the_line(check):
    def at(share):
        program = of_scattered()
        pass_time(program, 25_000 / share - (20_000 + 25_000 + 60_000))
        return program

    check.pair(at, silent=0.00995, fires=0.01005)


def test_one_device_is_not_applicable(check):
    assert check.ask(of_scattered(devices=1)).status == "not_applicable"
    assert check.ask(real_case(CLIP)).status == "not_applicable"


def test_without_operands_it_cannot_tell(check):
    outcome = check.ask(of_scattered(), without="PUT_")
    assert outcome.status == "cannot_tell"
    assert "INPUT_n" in outcome.why


def test_a_compilers_user_pads_once(check):
    assert "multiple of 32 times the devices" in check.ask(of_scattered(), generation="tt-torch").claim.fix


def test_real_reduce_scatters_read_what_matmuls_wrote(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"
