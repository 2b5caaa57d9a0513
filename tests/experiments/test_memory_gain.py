"""A lower peak of L1: what counts as one, and what is only told."""

from ttnn_mcp.analyses.memory.memory_comparison import Figure, MemoryDelta
from ttnn_mcp.experiments.rules import memory_gain, unproven_gain

LOWER = (Figure("dram_peak", 5, 1), Figure("l1_peak", 100_000, 50_000))


def test_a_gain_is_the_share_of_the_peak_of_l1():
    gain = memory_gain(MemoryDelta(LOWER, ()))
    assert (gain.before, gain.after, gain.change_share) == (100_000, 50_000, -0.5)


def test_reports_that_lack_buffers_prove_no_gain_and_it_is_told():
    assert memory_gain(MemoryDelta(LOWER, ("floors",))) is None
    told = unproven_gain(MemoryDelta(LOWER, ("floors", "it died")))
    assert told == "L1 peak 100,000 -> 50,000 bytes per bank (-50.0%), but that is no proof: floors; it died"
    assert unproven_gain(MemoryDelta(LOWER, ())) is None


def test_without_both_peaks_there_is_no_gain():
    for figures in ((), (Figure("l1_peak", 0, 50_000),), (Figure("l1_peak", None, 50_000),)):
        assert memory_gain(MemoryDelta(figures, ())) is None
        assert unproven_gain(MemoryDelta(figures, ("floors",))) is None
    assert memory_gain(None) is None
    assert unproven_gain(None) is None
