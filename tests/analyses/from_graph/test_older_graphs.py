"""What graphs of TTNN before 0.78 leave out: the program factory, and with it which of several programs ran."""

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor

X, B8 = tensor(1, 8, 256, 512), tensor(1, 8, 256, 512, dtype="b8")
SOFTMAX = f"SoftmaxParams(SoftmaxOperationType::Softmax, 3, std::nullopt, 0, {KERNEL.format(1, 0)}, 0, 1, "
SPLIT = "operation_attributes_t(8, 2, 192, {}, 0, "


def softmax(width, last, factory=""):
    x = tensor(1, 1, 64, width)
    return modelled("SoftmaxDeviceOperation", [x], x, factory=factory, attributes=SOFTMAX + last)


def test_the_most_of_all_programs_is_taken():
    assert modelled("PermuteDeviceOperation", [X], X) == 6 * 2048 + 256
    assert modelled("TransposeDeviceOperation", [B8], B8) == 6 * 1088 + 256
    assert modelled("MoveDeviceOperation", [X], X) == 16 * 2048  # as if both places overlapped
    assert modelled("MoveDeviceOperation", [], X) == 16 * 2048


def test_turned_keys_took_a_head_three_times():
    x, queries, keys = tensor(1, 1, 256, 2304), tensor(1, 8, 256, 192), tensor(1, 2, 192, 256)
    told = [SPLIT.format(turned) for turned in (1, 0)]
    once, thrice = 2 * 6 * 2048, 3 * 2 * 6 * 2048
    name = "NlpCreateHeadsDeviceOperation"
    assert [modelled(name, [x], (queries, keys), attributes=text) for text in told] == [thrice, once]
    assert modelled(name, [x], (queries, keys)) == thrice  # nobody prints whether: the most


def test_scores_were_lessened_by_their_maximum_always():
    kernel_of_its_own = softmax(512, "1)", "SoftmaxProgramFactoryAttentionOptimized")
    assert {softmax(512, "0)"), softmax(512, "1)")} == {kernel_of_its_own + 16 * 4096 + 2048}


def test_before_078_sums_had_32_bits_and_what_lies_between_what_was_set():
    narrow = SOFTMAX.replace("acc_en=1", "acc_en=0").removesuffix("0, 1, ") + "0, 1)"
    x = tensor(1, 1, 64, 512)
    sizes = [
        modelled("SoftmaxDeviceOperation", [x], x, factory=factory, attributes=narrow)
        for factory in ("", "SoftmaxProgramFactoryAttentionOptimized")
    ]
    assert sizes[0] == sizes[1] + 16 * 2048 + 2048 + 2 * 2048  # what is less the maximum; maxima; two sums


def test_what_prints_no_flags_is_counted_as_far_as_it_is_told():
    x = tensor(1, 1, 64, 512)
    unprinted = {"attributes": "unsupported type"}
    assert modelled("SoftmaxDeviceOperation", [x], x, **unprinted) is not None
    assert modelled("AccumulationDeviceOperation", [X], X, **unprinted) == 20_480  # with the sum in FLOAT32
    heads = tensor(1, 8, 256, 64)
    assert modelled("RotaryEmbeddingHfDeviceOperation", [heads] * 3, heads) == 49_152  # none in shards


def test_before_081_nobody_printed_whose_compute_config_it_was():
    """The first size is what 0.80 allocated in a BERT: 12 tiles in, out and of exponents, and five more."""
    x, printed = tensor(1, 1, 64, 384), SOFTMAX.replace("acc_en=1", "acc_en=0").removesuffix("0, 1, ")
    sizes = [
        modelled("SoftmaxDeviceOperation", [x], x, factory="SoftmaxProgramFactoryAttentionOptimized",
                 attributes=printed + last)
        for last in ("0, 1)", "0, 1, 0)", "0, 0)")
    ]  # fmt: skip
    assert sizes == [83_968, 83_968, 81_920]


def test_activations_are_counted_where_no_list_of_them_is_printed():
    for count in (0, 1, 2):
        printed = "BinaryOpType::ADD" + ", UnaryOpType::SILU" * count
        assert modelled("BinaryDeviceOperation", [X, X], X, attributes=printed) == 12_288 + count * 2048


def test_what_no_attribute_prints_comes_from_the_name_of_the_call():
    printed = {"attributes": "<BasicUnaryWithParam>"}
    assert modelled("UnaryDeviceOperation", [X], X, call="ttnn.logit", **printed) == 12_288
    assert modelled("UnaryDeviceOperation", [X], X, **printed) == 8192


def test_heads_in_shards_are_joined_where_they_lie():
    x = sharded(1, 8, 32, 64, layout="HEIGHT", shard=(32, 64), cores=(8, 1))
    shards = sharded(1, 1, 32, 512, layout="WIDTH", shard=(32, 64), cores=(8, 1))
    plain, out = tensor(1, 8, 32, 64), tensor(1, 1, 32, 512)
    name = "NLPConcatHeadsDeviceOperation"
    found = [modelled(name, [one], gives) for one, gives in ((x, shards), (x, out), (plain, shards), (plain, out))]
    assert found == [0, 65_536, 65_536, 65_536]
    assert modelled(name, [tensor(256, 64)], tensor(256, 64)) == 8192  # a single head
