"""What lies beside a database: read line by line, and never believed where it is odd."""

import json

from tests.for_all import for_all
from ttnn_mcp.readers.memory.folder import FolderFacts, read_folder, report_name

MOST = 4_000_000
DESCRIPTOR = "arch:\n  0: wormhole_b0\n  1: wormhole_b0\nchip_to_boardtype:\n  0: n300\n  1: n300\nio:\n  0: mmio\n"


def test_name_chips_and_boards_are_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"report_name": "bert"}))
    (tmp_path / "cluster_descriptor.yaml").write_text(DESCRIPTOR)
    assert read_folder(tmp_path) == FolderFacts("bert", "wormhole_b0", ("n300",))
    assert report_name(tmp_path) == "bert"


def test_a_section_ends_where_the_next_begins(tmp_path):
    (tmp_path / "cluster_descriptor.yaml").write_text(DESCRIPTOR + "arch_of_tomorrow:\n  0: blackhole\n")
    assert read_folder(tmp_path) == FolderFacts(None, "wormhole_b0", ("n300",))
    (tmp_path / "cluster_descriptor.yaml").write_text("io:\n  0: mmio\n")
    assert read_folder(tmp_path) == FolderFacts(None, None, ())


@for_all("config", ["", "{", "[]", "7", "{}", '{"report_name": ""}', '{"report_name": 7}', "[" * 9000])
def test_a_config_without_a_name_gives_none(tmp_path, config):
    (tmp_path / "config.json").write_text(config)
    assert report_name(tmp_path) is None


def test_the_file_of_the_rank_comes_first_and_a_folder_is_no_file(tmp_path):
    (tmp_path / "config.json").write_text('{"report_name": "all"}')
    (tmp_path / "config_1_of_2.json").mkdir()
    (tmp_path / "config_2_of_2.json").write_text('{"report_name": "second"}')
    assert [read_folder(tmp_path, rank).report_name for rank in (0, 1, 2)] == ["all", "second", "all"]


def test_a_file_of_more_than_four_megabytes_is_something_else(tmp_path):
    text = '{"report_name": "bert"}'
    (tmp_path / "config.json").write_text(text + " " * (MOST - len(text)))
    assert report_name(tmp_path) == "bert"
    (tmp_path / "config.json").write_text(text + " " * (MOST + 1 - len(text)))
    assert report_name(tmp_path) is None
