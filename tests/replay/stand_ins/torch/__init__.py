"""As much of torch as a script of a matmul needs: a tensor is eight numbers, whatever its shape."""

import math
import random

_chance = random.Random()  # noqa: S311


class Tensor:
    def __init__(self, numbers, shape=()):
        self.numbers, self.shape = numbers, shape

    def flatten(self):
        return self

    double = flatten

    def numel(self):
        return len(self.numbers)

    def mean(self):
        return sum(self.numbers) / len(self.numbers)

    def norm(self):
        return math.sqrt(sum(one * one for one in self.numbers))

    def sum(self):
        return sum(self.numbers)

    def __sub__(self, number):
        return Tensor([one - number for one in self.numbers])

    def __mul__(self, other):
        return Tensor([a * b for a, b in zip(self.numbers, other.numbers, strict=True)], other.shape)

    __matmul__ = __mul__


def manual_seed(seed):
    _chance.seed(seed)


def randn(shape):
    return Tensor([_chance.gauss(0, 1) for _ in range(8)], shape)
