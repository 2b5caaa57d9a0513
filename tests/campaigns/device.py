"""A simulated device: a small model whose levers have hidden, fixed effects, so that the best program is known.

Everything here is made. It proves what the loop decides from measurements, and nothing about hardware.
"""

import random
from dataclasses import dataclass, replace
from pathlib import Path

from tests.profiles import Iteration, Program, write_performance_report

LAYERS = 3
KERNEL_NS = {"norm": 24_000, "qkv": 60_000, "relu": 16_000, "up": 120_000, "reshape": 12_000, "down": 110_000}


@dataclass(frozen=True)
class Levers:
    """What an agent can change."""

    weights: bool = False  # BFLOAT8_B instead of BFLOAT16
    fidelity: bool = False  # HiFi2 instead of HiFi4
    fused_relu: bool = False
    no_reshape: bool = False
    norm_cores: bool = False  # 64 instead of 8
    config: bool = False  # a matmul program config of one's own

    def with_(self, name: str) -> "Levers":
        return replace(self, **{name: True})


NAMES = tuple(Levers.__dataclass_fields__)
TOUCHES = {
    "weights": ("qkv", "up", "down"),
    "fidelity": ("qkv", "up", "down"),
    "fused_relu": ("relu",),
    "no_reshape": ("reshape",),
    "norm_cores": ("norm",),
    "config": ("up", "down"),
}


@dataclass(frozen=True)
class Truth:
    """The effect of each lever: a factor on the time of the ops it touches, and whether accuracy survives."""

    factor: dict[str, float]
    accurate: dict[str, bool]

    def kernel_ns(self, levers: Levers) -> float:
        return LAYERS * sum(self.op_ns(op, levers) for op in KERNEL_NS)

    def op_ns(self, op: str, levers: Levers) -> float:
        taken = float(KERNEL_NS[op])
        for name in NAMES:
            if getattr(levers, name) and op in TOUCHES[name]:
                taken *= self.factor[name]
        return taken

    def pcc(self, levers: Levers) -> float:
        return 0.9995 if all(self.accurate[name] for name in NAMES if getattr(levers, name)) else 0.97

    def best(self) -> Levers:
        """The levers do not disturb each other, so the best program has all that gain and keep accuracy."""
        return Levers(**{name: self.factor[name] < 1 and self.accurate[name] for name in NAMES})


def drawn(chance: random.Random) -> Truth:
    """A device: about half of the levers help, some do nothing, some hurt or cost accuracy."""
    effects = (lambda: chance.uniform(0.4, 0.95), lambda: 1.0, lambda: chance.uniform(1.05, 1.5))
    factor = {name: chance.choices(effects, (5, 2, 2))[0]() for name in NAMES}
    return Truth(factor, {name: chance.random() < 0.8 for name in NAMES})


@dataclass(frozen=True)
class Profile:
    """How a profile is taken; what is not the default is a lie about the measurement."""

    layers: int = LAYERS
    clock_ghz: float = 1.0
    zeros: bool = False
    signposts: bool = False


def profiled(
    folder: Path, truth: Truth, levers: Levers, chance: random.Random, profile: Profile = Profile()
) -> str:
    """One profile of the model: a cold and two warm iterations, noise in each op and between files."""
    session = 1 + chance.uniform(-0.004, 0.004)  # two profiles of one program differ by some tenths of a percent
    program = Program("wormhole_b0", clock_ghz=profile.clock_ghz)
    x = program.tensor([1, 1, 256, 512])

    def op(code, inputs, *kinds, **more):
        kernel = (
            sum(truth.op_ns(kind, levers) for kind in kinds)
            * session
            * (1 + chance.uniform(-0.002, 0.002))
            / profile.clock_ghz
        )
        return program.op(code, inputs, kernel_ns=0 if profile.zeros else max(round(kernel), 500), **more)

    def matmul(source, wide, *kinds, activation=None):
        weight = program.weight([1, 1, source.shape[-1], wide], "BFLOAT8_B" if levers.weights else "BFLOAT16")
        config = {"program_config": "MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=4)"}
        attributes = {
            "user_fused_activation": activation,
            **(config if levers.config else {"program_config": None}),
        }
        return op(
            "MatmulDeviceOperation", [source, weight], *kinds, call="ttnn.linear", shape=(*source.shape[:-1], wide),
            fidelity="HiFi2" if levers.fidelity else "HiFi4", attributes=attributes,
        )  # fmt: skip

    for _ in range(profile.layers):
        h = op("LayerNormDeviceOperation", [x], "norm", fidelity="HiFi4", cores=64 if levers.norm_cores else 8)
        if levers.no_reshape:  # what it took is now part of the matmul
            q = matmul(h, 512, "qkv", "reshape")
        else:
            op("ReshapeViewDeviceOperation", [matmul(h, 512, "qkv")], "reshape", shape=[1, 1, 512, 256])
            q = program.tensor([1, 1, 256, 512])
        if levers.fused_relu:
            up = matmul(q, 2048, "up", "relu", activation="UnaryWithParam(op_type=UnaryOpType::RELU)")
        else:
            up = op("UnaryDeviceOperation", [matmul(q, 2048, "up")], "relu", fidelity="HiFi4")
        x = matmul(up, 512, "down")
    for _ in range(4):
        x = program.op("UnaryDeviceOperation", [x], kernel_ns=3_000)
    warm = (Iteration(kernel_scale=1.0), Iteration(kernel_scale=1.001))
    return str(write_performance_report(folder, program, (Iteration(cold=True), *warm)))
