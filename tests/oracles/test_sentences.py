"""The oracle of sentences finds what breaks its rules, and nothing else."""

from tests.for_all import for_all
from tests.oracles.sentences import flaws

GOOD = [
    "2.0 ms, of it 0.035 ms",
    "12 us here; 2.0 ms there",
    "asked 1,300 kB at 288 GB/s",
    "1,788 us",
    "line 1788 uses 4 B",
]
BAD = ["2.0 ms, of it 35 us", "1.30 MB, largest hole 900 kB", "12 KiB", "12 KB", "750 of 1788 us", "asked 4000 B"]


@for_all("sentence", GOOD)
def test_a_sentence_in_one_unit_is_good(sentence):
    assert [*flaws({"why": [sentence, 5]})] == []


@for_all("sentence", BAD)
def test_a_sentence_in_two_units_or_systems_is_told(sentence):
    assert [*flaws({"why": [f"first; {sentence}"]})] == [sentence]
