"""How many pixels a convolution or a pool must read: strides beyond the window leave some out."""

from __future__ import annotations

import re
from math import prod

from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.nesting import PrintedStruct

_WHOLE = re.compile(r"\d+")


def pixels_read(attributes: Attributes) -> float | None:
    """Distinct pixels of the padded image; None where the window is not printed, or not a plain one."""
    window = attributes.struct("sliding_window_config")
    if window is None or is_transposed(window):
        return None
    printed = ("batch_size", "input_hw", "window_hw", "stride_hw", "dilation_hw")
    images, size, kernel, stride, dilation = (whole_numbers(window.text_of(key)) for key in printed)
    pads = whole_numbers(window.text_of("padding")) or whole_numbers(window.text_of("pad_hw"))
    both = {2: [2 * pad for pad in pads], 4: [sum(pads[:2]), sum(pads[2:])]}.get(len(pads))
    if both is None or len(images) != 1 or any(len(each) != 2 for each in (size, kernel, stride)):
        return None
    if dilation not in ([], [1, 1]) or not all(kernel + stride):
        return None
    sides = zip(size, both, kernel, stride, strict=True)
    return float(images[0] * prod(_of_side(length + padding, *steps) for length, padding, *steps in sides))


def is_transposed(window: PrintedStruct) -> bool:
    """Whether the window of a SlidingWindowConfig slides over the output."""
    return (window.text_of("is_transpose") or "").strip() in {"true", "1"}


def whole_numbers(text: str | None) -> list[int]:
    """All whole numbers of a printed text, such as `(3;3)`, `((1; 1); (2; 2))` or `Shape([1, 8, 8, 32])`."""
    return [int(number) for number in _WHOLE.findall(text or "")]


def _of_side(length: int, kernel: int, stride: int) -> int:
    """Rows, or columns, below some window."""
    windows = max((length - kernel) // stride + 1, 0)
    return max(windows - 1, 0) * min(kernel, stride) + kernel * (windows > 0)
