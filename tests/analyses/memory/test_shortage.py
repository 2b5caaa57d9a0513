"""The runtime's words when memory ran out, in the wordings of several years."""

from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.analyses.memory.shortage import Shortage, parse_shortage

CORES = "[(x=0,y=0) - (x=7,y=7)]"
OUT_OF_MEMORY = (
    "Out of Memory: Not enough space to allocate 67108864 B L1 buffer across 64 banks, where each bank needs "
)
CLASH = (
    f"clash with L1 buffers on core range {CORES}. L1 buffer allocated at 900000 and static circular buffer region "
)
MESSAGES = {
    f"{OUT_OF_MEMORY}to store 1048576 B": Shortage("no_room", "L1", 1048576),
    f"TT_FATAL @ bank_manager.cpp:135: address.has_value()\ninfo:\n{OUT_OF_MEMORY}to store 1048576 B, but bank size is "
    "only 1370848 B\nbacktrace:\n": Shortage("no_room", "L1", 1048576, 1370848),
    f"{OUT_OF_MEMORY}to store 1048576 B, but bank size is 1370848 B (allocated: 600000 B, free: 770848 B, largest free "
    "block: 512000 B)": Shortage("no_room", "L1", 1048576, 1370848, 770848, 512000, allocated_bytes=600000),
    "Out of Memory: Not enough space to allocate 8192 B BufferType::L1_SMALL buffer across 64 banks, where each bank "
    "needs to store 128 B": Shortage("no_room", "L1_SMALL", 128),
    "Not enough space to allocate 8,589,934,592 B DRAM buffer across 12 banks, where each bank needs to store "
    "715,827,904 B": Shortage("no_room", "DRAM", 715827904),
    f"Statically allocated circular buffers in program 137 {CLASH}ends at 1003712": Shortage(
        "clash", "L1", 1003712, 900000, cores=CORES
    ),
    f"Statically allocated circular buffers {CLASH}ends at 1003712": Shortage(
        "clash", "L1", 1003712, 900000, cores=CORES
    ),
    f"Statically allocated circular buffers on core range {CORES} grow to 1703712 B which is beyond max L1 size of "
    "1499136 B": Shortage("beyond_l1", "L1", 1703712, 1499136, cores=CORES),
    f"Statically allocated circular buffers in program 4 on core range {CORES} grow to 1703712 B which is beyond max "
    "L1 size of 1572864 B": Shortage("beyond_l1", "L1", 1703712, 1572864, cores=CORES),
}


@for_all(("message", "wanted"), MESSAGES.items())
def test_a_message_of_any_year_is_taken_apart(message, wanted):
    assert parse_shortage(message) == wanted


@for_all(
    ("shortage", "short"),
    [
        (Shortage("no_room", "L1", 1000), None),
        (Shortage("no_room", "L1", 1000, 5000, 900), 100),
        (Shortage("no_room", "L1", 1000, 5000, 1900, 700), 300),  # enough in all, not in one piece
        (Shortage("clash", "L1", 1003712, 900000), 103712),
        (Shortage("beyond_l1", "L1", 1703712, 1499136), 204576),
    ],
)
def test_how_much_is_missing(shortage, short):
    assert shortage.short_bytes == short


@given(st.text(max_size=300))
def test_other_words_are_no_shortage(text):
    found = parse_shortage(text)
    assert found is None or found.asked_bytes >= 0
