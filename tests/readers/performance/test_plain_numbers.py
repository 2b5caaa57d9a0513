"""Eight digits in a word: which words hold them, and the number that they are."""

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.readers.performance.plain_numbers import ZEROS, are_no_digits, as_number, decimals

EIGHT = ["00000000", "12345678", "99999999", "90000001", "00000007", "10203040"]


def words(texts):
    """As they stand in a file, the last character highest; fewer than eight have zeros before them."""
    return np.frombuffer(b"".join(text.rjust(8, b"0") for text in texts), dtype="<u8") ^ ZEROS


@for_all("place", range(8))
@for_all("others", [b"0", b"9"])
def test_a_byte_that_is_no_digit_is_seen_wherever_it_stands(place, others):
    texts = [others * place + bytes([byte]) + others * (7 - place) for byte in range(256)]
    digits = [
        text for text, is_none in zip(texts, are_no_digits(words(texts)).tolist(), strict=True) if not is_none
    ]
    assert digits == [text for text in texts if text.isdigit()]


def test_eight_digits_are_one_number():
    drawn = np.random.default_rng(8)
    texts = [*EIGHT, *(f"{drawn.integers(10**8):08}" for _ in range(500))]
    assert as_number(words([text.encode() for text in texts])).tolist() == [int(text) for text in texts]


@for_all("length", range(2, 9))
def test_digits_around_one_point_are_the_number_next_to_them(length):
    drawn = np.random.default_rng(length)
    whole = [f"{drawn.integers(10 ** (length - 1)):0{length - 1}}" for _ in range(100)]
    texts = [f"{digits[:place]}.{digits[place:]}" for digits in whole for place in range(length)]
    numbers, are_decimals = decimals(words([text.encode() for text in texts]))
    assert are_decimals.all()
    assert numbers.tolist() == [float(text) for text in texts]


@for_all("place", range(8))
def test_words_with_no_point_or_something_else_are_no_decimals(place):
    texts = [b"7" * place + bytes([byte]) + b"7" * (7 - place) for byte in range(256)]
    _, are_decimals = decimals(words(texts))
    assert [text for text, is_one in zip(texts, are_decimals.tolist(), strict=True) if is_one] == [texts[ord(".")]]


@for_all("text", [b"1.2.3456", b"..", b"1.23456.", b"1.2a", b"a1.2", b"1.\xae", b"-1.2", b"1.2 "])
def test_two_points_and_signs_are_no_decimals(text):
    assert not decimals(words([text]))[1].any()
