"""top-k-of-gathered: logits gathered before their largest are chosen."""

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

CHIPS = 4


def put_choice(
    program, *, name="AllGatherAsync", slices=2, chooser="TopK", also="", width=65_536, whole=0, us=600, cut="Slice"
):
    whole = whole or CHIPS * width
    y = program.tensor([1, 1, 32, whole])
    put(program, DeviceOp(f"{name}DeviceOperation", (program.tensor([1, 1, 32, width]),), (y,), 1000 * us))
    chosen = [program.tensor([1, 1, 32, 32]) for _ in range(max(slices, 1))]
    for place in range(slices):
        part = program.tensor([1, 1, 32, 32_768 + 32 * place])
        put(program, DeviceOp(f"{cut}DeviceOperation", (y,), (part,), 20_000))
        if chooser:
            put(
                program,
                DeviceOp(f"{chooser}DeviceOperation", (part,), (chosen[place],), 100_000, attributes={"k": 32}),
            )
    if not slices and chooser:
        put(program, DeviceOp(f"{chooser}DeviceOperation", (y,), (chosen[0],), 100_000, attributes={"k": 32}))
    if also:
        put(program, DeviceOp(f"{also}DeviceOperation", (y,), (program.tensor([1, 1, 32, 96]),), 9_000))


def choice(*, devices=CHIPS, **how) -> Program:
    program = Program("blackhole", grid=(11, 10), devices=devices)
    put_choice(program, **how)
    return program


def test_the_gather_goes_and_each_chip_chooses_a_part(check):
    check.assert_sound(choice())
    outcome = check.ask(choice())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [0, 1, 2, 3, 4]
    assert claim.at_most_ns.tolist() == [600_000, 15_000, 75_000, 15_000, 75_000]
    assert claim.claim.startswith(
        "1 all-gather of 262144 columns, of which only the largest are wanted (840 us, 99.3% with what chooses)"
    )
    assert {row for row, _ in cells(outcome)} == {case.line(0), case.line(4)}


def test_each_chip_chooses_as_many_as_are_wanted(check):
    """All of them may lie on one chip."""

    def fix(wanted):
        made = choice()
        for op in made.device_ops:
            op.attributes = {**op.attributes, "k": wanted} if "k" in op.attributes else op.attributes
        return check.ask(made).claim.fix

    assert "ttnn.topk(logits, k=64, dim=-1)" in fix(64)
    assert "ttnn.topk(logits, k=32, dim=-1)" in fix(1)


@for_all("chooser", ["TopK", "ArgMax", "Argmax"])
def test_a_choice_without_slices(check, chooser):
    assert check.ask(choice(slices=0, chooser=chooser)).claim.at_most_ns.tolist() == [600_000, 75_000]


@for_all(
    "how",
    [{"name": "ReduceScatter"}, {"chooser": "Softmax"}, {"also": "Softmax"}, {"slices": 0, "chooser": ""}, {"chooser": ""},
     {"whole": 65_536}, {"cut": "Untilize"}],
    ids=str,
)  # fmt: skip
def test_others_are_none(check, how):
    assert check.ask(choice(**how)).status == "clean"


def test_two_gathers_are_one_claim(check):
    program = choice(slices=1)
    put_choice(program, slices=0, width=40_960, us=900)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1, 2, 3, 4]
    assert claim.claim.startswith("2 all-gathers of 163840 columns")


def test_one_percent_is_worth_telling(check):
    def longer(share):
        program = choice()
        pass_time(program, 780_000 / share - 840_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_one_device_or_no_operands(check, tmp_path):
    assert check.ask(choice(devices=1)).why == "one device"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), choice())), "INPUT_n")
