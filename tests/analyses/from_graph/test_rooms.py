"""Programs that fit themselves to the L1 that tensors leave free: dry captures of TTNN 0.81.1 with tensors in L1."""

from dataclasses import replace

from tests.analyses.from_graph.programs import BANK, WORMHOLE, modelled, tensor
from tests.for_all import for_all
from ttnn_mcp.analyses.from_graph.program import Machine

SMALL = 32_768
MACHINES = {
    "wormhole": replace(WORMHOLE, small_bytes=SMALL),
    "blackhole": Machine((12, 10), "blackhole", 8, 1_428_352, small_bytes=SMALL),
}
PLACES = replace(tensor(1, 1, 32, 64), dtype="UINT32")
STREAMED = [  # words, machine, bytes of L1 that tensors leave free (None: all), measured
    (128_256, "wormhole", None, 1_374_208),  # beside an empty L1_SMALL
    (112_000, "blackhole", None, 1_439_744),
    (32_000, "wormhole", BANK - 192 * 2048, 690_176),
    (50_257, "wormhole", BANK - 192 * 2048, 811_008),
    (60_000, "wormhole", BANK - 200 * 2048, 774_144),
    (32_000, "wormhole", BANK - 128 * 2048, 1_030_144),
]


@for_all("case", STREAMED, ids=str)
def test_a_vocabulary_is_gathered_in_equal_parts_that_fit(case):
    words, name, free, measured = case
    machine = MACHINES[name]
    room = machine.bank_bytes if free is None else free
    asked = {"factory": "GatherCodegenProgramFactoryStreaming", "machine": machine, "room": room}
    x, out = tensor(1, 1, 32, words), tensor(1, 1, 32, 64)
    assert modelled("GatherCodegenDeviceOperation", [x, PLACES], out, **asked) == measured


def test_an_embedding_reads_two_rows_of_tiles_where_they_fit():
    rows, out = tensor(1, 1, 256, 512, rows=True), tensor(1, 256, 512)
    found = [
        modelled("EmbeddingsDeviceOperation", [rows], out, factory="EmbeddingsFusedProgramFactory", room=room)
        for room in (131_200, 131_199)
    ]
    assert found == [131_200, 65_664]


def test_a_reshape_stages_as_many_rows_as_fit():
    """reshape_rm_program_factory.cpp: choose_num_dest_write_slots."""
    x, out = tensor(32, 25_000, rows=True), tensor(16, 50_001, rows=True)
    row, staged = 49_984 + 128, 99_968 + 80
    found = {
        room: modelled("ReshapeViewDeviceOperation", [x], out, factory="ReshapeViewRMProgramFactory", room=room)
        for room in (BANK, 2 * row + 2 * staged, 2 * row + 2 * staged - 1, 0)
    }
    assert list(found.values()) == [2 * row + slots * staged for slots in (8, 2, 1, 1)]


@for_all(("columns", "rows"), [(512, 16), (20_032, 16), (40_064, 8), (320_000, 1)])
def test_padding_works_on_fewer_rows_where_half_of_l1_has_no_room(columns, rows):
    """pad_rm_reader_writer_multi_core_default_program_factory.cpp: buffer_reader_writer_async_factor."""
    x = tensor(1, 1, 64, columns, rows=True)
    barrier = max(-(-2048 // (2 * columns)), 1) * 2 * columns
    assert modelled("PadDeviceOperation", [x], x) == rows * barrier + 2 * columns
