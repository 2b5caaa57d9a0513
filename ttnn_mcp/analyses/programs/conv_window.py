"""The sliding window of a Conv2d: the size of its output, and the input that a core needs for its part of it."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import filled_up
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct, whole
from ttnn_mcp.records import dataclass

CORES_AT_MOST = 1024  # more than any chip has: limits the loop over cores for a broken report


@dataclass(frozen=True, slots=True)
class ConvWindow:
    """A sliding window and its input: sizes in elements, pairs are (height, width).

    Attributes:
        padding: top, bottom, left, right.
    """

    batch: int
    input: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)

    @property
    def output(self) -> tuple[int, int]:
        """Height and width of the output (conv2d_utils.cpp calculate_output_image_size)."""
        down = self.input[0] + self.padding[0] + self.padding[1] - self.dilation[0] * (self.kernel[0] - 1) - 1
        across = self.input[1] + self.padding[2] + self.padding[3] - self.dilation[1] * (self.kernel[1] - 1) - 1
        return max(down // self.stride[0] + 1, 1), max(across // self.stride[1] + 1, 1)

    @property
    def rows(self) -> int:
        """Rows of the output as a matrix: one row per pixel."""
        return self.batch * self.output[0] * self.output[1]

    def sticks(self, cores: int, rows_per_core: int) -> int:
        """The most pixels of padded input that one core gets from halo (sliding_window.cpp).

        A core gets the pixels from the first one that its first output reads to the last one that its last output
        reads (generate_shard_boundaries, generate_max_out_nsticks_per_core).
        """
        reach = self.dilation[0] * (self.kernel[0] - 1) * self._padded[1] + self.dilation[1] * (self.kernel[1] - 1)
        most = 0
        for core in range(min(cores, CORES_AT_MOST)):
            first_output, last_output = core * rows_per_core, min((core + 1) * rows_per_core, self.rows) - 1
            most = max(most, self._read_first(last_output) - self._read_first(first_output) + reach + 1)
        return most

    def index_bytes(self, cores: int, rows_per_core: int, readers: tuple[int, int]) -> int:
        """Bytes of the longest table by which a core finds its input (sliding_window.cpp).

        Four words of two bytes for each block of a reader, and two more wherever the input jumps between outputs
        (generate_sliding_window_op_config). `readers` are the rows of output in a block of each of the two.
        """
        firsts = np.arange(min(cores, CORES_AT_MOST)) * rows_per_core
        lasts = np.minimum(firsts + rows_per_core, self.rows) - 1
        first_halves = np.arange(0, rows_per_core, sum(readers))
        offsets = np.concatenate((first_halves, first_halves + readers[0])) if readers[1] else first_halves
        begins = firsts[:, None] + offsets
        begun = begins <= lasts[:, None]

        def inside(every: int) -> Integers:
            at_begin = (begun & (begins % every == 0))[:, 1:].sum(axis=1)
            return lasts // every - firsts // every - at_begin

        def jumps(pixel: int) -> bool:
            return self._read_first(pixel) != self._read_first(pixel - 1) + self.stride[1]

        across, image = self.output[1], self.output[0] * self.output[1]
        runs = jumps(across) * (inside(across) - inside(image)) + jumps(image) * inside(image)
        return 2 * filled_up(int((4 * begun.sum(axis=1) + 2 * runs).max()), 2)

    @property
    def _padded(self) -> tuple[int, int]:
        top, bottom, left, right = self.padding
        return self.input[0] + top + bottom, self.input[1] + left + right

    def _read_first(self, pixel: int) -> int:
        """Index of the first padded pixel that an output pixel reads."""
        height, width = self.output
        image, place = divmod(pixel, height * width)
        down, across = divmod(place, width)
        padded_height, padded_width = self._padded
        return (image * padded_height + down * self.stride[0]) * padded_width + across * self.stride[1]


def window_of(printed: PrintedStruct | None) -> ConvWindow | None:
    """The window of a printed SlidingWindowConfig; None where it leaves out a part."""
    if printed is None:
        return None
    batch = printed.number("batch_size")
    pairs = [_numbers(printed.fields.get(key, "")) for key in ("input_hw", "window_hw", "stride_hw", "dilation_hw")]
    padding = _numbers(printed.fields.get("padding", ""))
    if not batch or any(len(pair) != 2 or min(pair) < 1 for pair in pairs) or len(padding) not in (2, 4):
        return None
    top, bottom, left, right = padding if len(padding) == 4 else (padding[0], padding[0], padding[1], padding[1])
    size, kernel, stride, dilation = ((pair[0], pair[1]) for pair in pairs)
    return ConvWindow(batch, size, kernel, stride, (top, bottom, left, right), dilation)


def _numbers(text: str) -> list[int]:
    """The whole numbers of `(3;3)` or `((1;1);(1;1))`."""
    group = parse_struct(text)
    if group is None:
        return []
    numbers: list[int] = []
    for value in group.values:
        number = whole(value)
        numbers.extend(_numbers(value) if number is None else [number])
    return numbers
