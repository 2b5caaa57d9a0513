"""collective-bandwidth: large exchanges far below what their links have carried, by the fastest device's time."""

from tests.checks.asking import real_case
from tests.checks.mesh_programs import PAYLOAD, Gather, mesh, with_gather
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles.ops import collective
from tests.shared_reports import DEEPSEEK

CARRIED = 24  # GB/s per link and direction on Blackhole: half of its specification
LEAST_NS = PAYLOAD / (2 * CARRIED)  # over two links of a line


def test_a_slow_exchange_is_told_its_rate(check):
    claim = check.assert_sound(with_gather(kernel_ns=300_000))
    assert "line 6 moves 6.3 MB at 10.5 GB/s per link and direction, 24 have been seen" in claim.claim
    assert "(1x, 300 us, 100.0%)" in claim.claim
    assert claim.at_most_ns.tolist() == [300_000 - LEAST_NS]
    assert "ttnn.all_gather(..., output_tensor=y)" in claim.fix
    assert "max_packet_payload_size_bytes = 8192;" in claim.fix
    assert [one.value for one in claim.evidence] == [300_000]


def test_half_of_what_links_have_carried_is_the_line(check):
    line = PAYLOAD / (2 * CARRIED / 2)
    check.pair(lambda ns: with_gather(kernel_ns=ns), silent=round(line * 0.999), fires=round(line * 1.001))


def test_a_ring_talks_in_both_directions(check):
    line = PAYLOAD / (2 * 2 * CARRIED / 2)
    check.pair(
        lambda ns: with_gather(kernel_ns=ns, topology="Ring"), silent=round(line * 0.999), fires=round(line * 1.001)
    )


def test_wormholes_links_carry_half_as_much(check):
    line = PAYLOAD / (12 / 2)
    found = check.pair(
        lambda ns: with_gather(kernel_ns=ns, links=1, arch="wormhole_b0"),
        silent=round(line * 0.999),
        fires=round(line * 1.001),
    )
    assert "12 have been seen" in found.claim.claim
    assert "max_packet_payload_size_bytes = 7616;" in found.claim.fix


def test_one_percent_of_the_window_is_the_line(check):
    saved = 400_000 - LEAST_NS
    check.pair(lambda share: with_gather(saved / share - 400_000, kernel_ns=400_000), silent=0.00995, fires=0.01005)


def test_small_exchanges_are_bound_by_latency(check):
    def small(kernel_ns):
        program = mesh()
        x, out = program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 128])
        put(program, collective("AllGatherAsync", x, out, kernel_ns, ring_size=4))
        return program

    check.pair(small, silent=29_900, fires=30_100)


def test_the_fastest_device_stands_for_the_exchange(check):
    late = [900_000, 900_000, 900_000]
    assert check.ask(with_gather(kernel_ns=[200_000, *late])).status == "clean"
    claim = check.ask(with_gather(kernel_ns=[400_000, *late])).claim
    assert claim.at_most_ns.tolist() == [400_000 - LEAST_NS]  # the rest is waiting, and stays
    assert "at 7.9 GB/s" in claim.claim


def test_the_heaviest_exchange_is_the_example(check):
    program = mesh()
    Gather(300_000).put(program)
    Gather(500_000, kind="AllGatherMinimalAsync").put(program)
    Gather(140_000).put(program)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1]
    assert "(2x, 800 us" in claim.claim
    assert "line 18 moves 6.3 MB at 6.3 GB/s" in claim.claim
    assert [(one.row, one.value) for one in claim.evidence] == [(18, 500_000)]


@for_all("change", [{"links": None}, {"topology": "Unknown"}], ids=["links", "topology"])
def test_collectives_that_do_not_tell_links_or_topology_have_no_rate(check, change):
    assert check.ask(with_gather(kernel_ns=900_000, **change)).status == "clean"


def test_an_architecture_without_links_has_no_rate(check):
    outcome = check.ask(with_gather(kernel_ns=900_000, arch="grayskull"))
    assert (outcome.status, outcome.why) == (
        "cannot_tell",
        "no rate is known for this architecture's links between chips",
    )


def test_deepseeks_collectives_are_fast_enough(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"


def test_a_ring_keeps_its_fabric(check):
    fabrics = [check.ask(with_gather(kernel_ns=400_000, topology=kind)).claim.fix for kind in ("Ring", "Linear")]
    assert ["FABRIC_1D_RING" in fix for fix in fabrics] == [True, False]


def scattered(rows=160, workers=1, kind="ReduceScatterMinimalAsync"):
    """Four devices that scatter a sum over as many rows."""
    program = mesh()
    x, out = program.tensor([1, 1, rows, 8192]), program.tensor([1, 1, rows, 2048])
    op = collective(kind, x, out, 2_000_000, ring_size=4)
    op.attributes = {**op.attributes, "num_workers_per_link": workers}
    put(program, op)
    return program


@for_all(
    ("how", "told"),
    [
        ({}, True),
        ({"rows": 128}, False),
        ({"rows": 129}, True),
        ({"workers": 2}, False),
        ({"kind": "AllGatherAsync"}, False),
    ],
)
def test_more_workers_are_told_for_many_rows_of_a_reduce_scatter(check, how, told):
    assert ("num_workers_per_link=4" in check.ask(scattered(**how)).claim.fix) == told
