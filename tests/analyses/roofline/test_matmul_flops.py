"""Arithmetic of matmuls: where the report shows it, and where it does not."""

from tests.analyses.roofline.arithmetic import counted, table
from tests.for_all import for_all
from ttnn_mcp.analyses.roofline.matmul_flops import WHY_EXPERTS, WHY_OPERANDS, WHY_PACKED, WHY_UNFIT

A, B, OUT = [1, 1, 64, 128], [1, 1, 128, 96], [1, 1, 64, 96]
WHOLE = 2 * 64 * 128 * 96
PLAIN = ("Matmul", [A, B], [OUT])
UNKNOWN = (None, None, WHY_OPERANDS)


def test_two_inputs_and_an_output_are_all_it_takes(tmp_path):
    assert counted(table(tmp_path, PLAIN, without="INPUT_[2-9]")) == [(WHOLE, WHOLE, "")]


@for_all("without", ["INPUT_[1-9]", "OUTPUT"])
def test_a_report_without_these_columns_shows_no_arithmetic(tmp_path, without):
    assert counted(table(tmp_path, PLAIN, without=without)) == [UNKNOWN]


@for_all("blank", ["INPUT_0", "INPUT_1", "INPUT", "OUTPUT"])
def test_nor_does_one_whose_cells_are_all_blank(tmp_path, blank):
    assert counted(table(tmp_path, PLAIN, blank=blank)) == [UNKNOWN]


@for_all("code", ["Matmul", "AllGatherMatmulAsync"])
def test_a_row_without_its_second_input_shows_none(tmp_path, code):
    plain = (code, [A, B], [OUT])
    assert counted(table(tmp_path, plain, plain, blank="INPUT_1")) == [UNKNOWN, (WHOLE, WHOLE, "")]


def test_inputs_that_fit_need_no_turn(tmp_path):
    square = [1, 1, 64, 64]
    turned = {"transpose_a": True, "transpose_b": True, "transpose_input": True, "transpose_other": True}
    ops = [
        ("Matmul", [A, A], [square], {"transpose_b": True}),
        ("Matmul", [A, A], [[1, 1, 128, 128]], {"transpose_a": True}),
        ("MorehMatmul", [A, A], [square], {"transpose_input": False, "transpose_other": True}),
        ("MorehMatmul", [A, A], [[1, 1, 128, 128]], {"transpose_input": True, "transpose_other": False}),
    ]
    ops = [(code.replace("MorehMatmul", "MorehMatmul"), *rest) for code, *rest in ops]
    product = 2 * 64 * 128 * 64, 2 * 128 * 64 * 128
    assert [each[0] for each in counted(table(tmp_path, *ops))] == [*product, *product]
    unturned = [("Matmul", [A, B], [OUT], {key: value}) for key, value in turned.items()]
    assert counted(table(tmp_path, *unturned)) == [(WHOLE, WHOLE, "")] * 4


def test_what_does_not_fit_is_told_unless_it_is_gathered_first(tmp_path):
    narrow = [1, 1, 64, 32]
    ops = ("Matmul", [narrow, B], [OUT]), ("AllGatherMatmulAsync", [narrow, B], [A, OUT])
    assert counted(table(tmp_path, *ops)) == [(None, None, WHY_UNFIT), (WHOLE, WHOLE, "")]


def test_a_whole_input_of_a_gathering_matmul_tells_its_lines_by_itself(tmp_path):
    """Its outputs are parts: none is as wide as the product."""
    parts = [[1, 1, 64, 32]] * 3
    assert counted(table(tmp_path, ("AllGatherMatmulAsync", [A, B], parts))) == [(WHOLE, WHOLE, "")]


def test_the_padded_width_decides_whether_inputs_fit(tmp_path):
    """Its product is written as parts; a logical width of 100 against 128 is only padding."""
    op = ("Matmul", [[1, 1, 64, 100], B], [[1, 1, 64, 32]] * 3)
    assert counted(table(tmp_path, op)) == [(WHOLE, WHOLE, "")]


def test_what_is_gathered_has_its_lines_in_the_output(tmp_path):
    op = ("AllGatherMatmulAsync", [[1, 1, 32, 64], B], [A, OUT])
    assert counted(table(tmp_path, op)) == [(WHOLE, WHOLE, "")]


def test_a_gathering_matmul_that_gathers_nothing_may_read_its_batch_once(tmp_path):
    """Its lines are those of A for each batch of B; an output of one batch says less."""
    op = ("AllGatherMatmulAsync", [A, [1, 4, 128, 96]], [OUT])
    assert counted(table(tmp_path, op)) == [(4 * WHOLE, 4 * WHOLE, "")]


@for_all(
    ("code", "a", "b", "out"),
    [
        ("AttnMatmul", [1, 8, 32, 64], [32, 1, 64, 128], [1, 8, 32, 128]),
        ("AttnMatmul", [1, 8, 32, 64], [32, 1, 2048, 64], [1, 8, 32, 128]),  # 128 keys of a cache
        ("GroupAttnMatmul", [1, 8, 32, 128], [32, 2, 2048, 64], [1, 8, 32, 64]),  # 128 values of a cache
        ("MatmulDecode", [1, 1, 32, 64], [1, 1, 64, 128], [1, 1, 32, 128]),
        ("MatmulDecode", [1, 1, 32, 64], [1, 1, 32, 256], [1, 1, 32, 128]),  # two blocks of K beside each other
        ("MatmulDecode", [2, 2, 32, 64], [1, 1, 128, 256], [2, 2, 32, 128]),  # four batches in two blocks
    ],
)
def test_what_reads_a_part_of_a_cache_or_folded_weights_has_its_product_in_the_output(tmp_path, code, a, b, out):
    product = 2 * out[0] * out[1] * 32 * a[3] * out[3]
    assert counted(table(tmp_path, (code, [a, b], [out]))) == [(product, product, "")]


def test_a_product_that_is_gathered_took_no_more_than_the_weights_there_are(tmp_path):
    assert counted(table(tmp_path, ("MatmulDecode", [A, B], [[1, 1, 64, 4 * 96]]))) == [(WHOLE, WHOLE, "")]


@for_all("code", ["Matmul_RS", "MatmulWO"])
def test_weights_that_are_packed_are_no_contradiction(tmp_path, code):
    ops = [(code, [A, B], [OUT]), (code, [A, A], [OUT])]
    assert counted(table(tmp_path, *ops)) == [(None, None, WHY_PACKED)] * 2


def test_experts_that_are_counted_need_no_reason_and_plain_matmuls_none(tmp_path):
    sparse = ("SparseMatmul", [A, [1, 8, 128, 96]], [[1, 8, 64, 96]])
    ops = ((*sparse, {"nnz": 2}), sparse, PLAIN)
    assert counted(table(tmp_path, *ops)) == [
        (2 * WHOLE, 2 * WHOLE, ""),
        (None, None, WHY_EXPERTS),
        (WHOLE, WHOLE, ""),
    ]
