"""One column: what its unit allows."""

from ttnn_mcp.readers.performance.column import AT_MOST, DEVICES, Column, time_ns, utilisation


def test_what_can_be_true_is_bounded_by_the_unit():
    true = {"ns": 60 * 60 * 1e9, "cycles": 2.0**63, "cores": 64.0 * 64.0, "%": 1e9, "": float(2**53)}
    assert true == AT_MOST  # cores: six bits for each coordinate
    assert float(2**53) + 1 == float(2**53)  # beyond, whole numbers are lost
    assert Column("x", ("X",), "number", "ns", "").limit == 3.6e12
    assert Column("x", ("X",), "number", "ns", "", at_most=5).limit == 5


def test_a_device_fits_the_bits_that_a_call_count_has_for_it():
    assert DEVICES == 2**10


def test_times_and_utilisations_are_named_as_in_the_file():
    assert time_ns("x_ns", "X", "").headers == ("X [ns]",)
    assert utilisation("x_pct", "X", "", 3).headers == ("X (%)",)
