"""Launches of the same program: by name, attributes and operands."""

from ttnn_mcp.readers.graph.graph_memory import call_of

CONV = "Conv2dParams(SlidingWindowConfig(1), 128, ComputeKernelConfig(math_fidelity=HiFi4), 1, 1, 0, 0, 0, {}, std::nullopt)"


def call(name="Op", printed=("a",), shape="[1]"):
    nodes = [{"params": {"shape": shape, "address": id(shape)}}]
    return call_of(name, {"arguments": list(printed), "input_tensors": [0, 5, "x"]}, nodes)


def test_the_same_program_has_the_same_number():
    assert call() == call()
    assert len({call(), call("Other"), call(printed=("b",)), call(shape="[2]")}) == 4


def test_what_another_factory_planned_is_another_program():
    numbers = {
        call_of("Op", {"arguments": ["<variant>"], "params": {"program_factory_type": one}}, []) for one in "ab"
    }
    assert len(numbers) == 2


def test_what_prints_attributes_or_operands_has_a_number():
    operand = [{"params": {"shape": "[1]"}}]
    assert call_of("Op", {"arguments": ["a"]}, []) != 0
    assert call_of("Op", {"input_tensors": [0]}, operand) not in {0, call_of("Op", {"input_tensors": [1]}, operand)}
    outside = {call_of("Op", {"input_tensors": [counter]}, operand) for counter in (-1, 1, "0", None)}
    assert len(outside) == 1


def test_what_prints_nothing_has_none():
    assert call_of("Op", {}, []) == 0


def test_how_much_l1_a_conv_found_in_use_is_no_part_of_it():
    first, again = (call("Conv2dDeviceOperation", [CONV.format(size)]) for size in (706_048, 722_432))
    assert first == again
    assert first != call("Conv2dDeviceOperation", [CONV.replace("128", "256").format(706_048)])
    assert call("Op", [CONV.format(1)]) != call("Op", [CONV.format(2)])
