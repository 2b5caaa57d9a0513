"""What a fix changes in the code of a model: findings about one such change are one edit of the plan."""

from __future__ import annotations

from typing import NamedTuple


class Lever(NamedTuple):
    """A place in the code.

    Attributes:
        name: of its edits in an answer.
        what: of several findings together, in a few words.
        merges: whether one edit changes it for all ops; otherwise only findings that share ops are one edit.
        slot: what it sets of an op, where two findings cannot both set it; empty where they can.
        tries: whether it is a setting that this run did not try, not a problem.
    """

    name: str
    what: str
    merges: bool = False
    slot: str = ""
    tries: bool = False


PROGRAM = "program"  # an op runs one program: of several that are proposed it takes one
PASSES = "passes"  # of the engine, its math fidelity

WEIGHTS = Lever("weights-format", "data type of weights", merges=True, slot="data type of weights")
ACTIVATIONS = Lever("activations-format", "data type of activations")
CACHES = Lever("caches", "caches of keys and values", merges=True)
KERNEL_CONFIG = Lever("compute-config", "compute kernel configs", merges=True)
MATMUL_CONFIG = Lever("matmul-config", "program configs of matmuls", merges=True, slot=PROGRAM)
ATTENTION_CONFIG = Lever("attention-config", "program configs of attention", merges=True, slot=PROGRAM)
ATTENTION_GRID = ATTENTION_CONFIG._replace(slot="grid")  # a field of the config that holds the chunks: one edit
ACCUMULATION = Lever("accumulation", "partial sums of matmuls and convs", merges=True)
CONV_CONFIG = Lever("conv-config", "Conv2dConfig of convs", merges=True)
NORM_CONFIG = Lever("norm-config", "norms on more cores", merges=True, slot=PROGRAM)
MORE_CORES = Lever("more-cores", "ops on more cores", slot=PROGRAM)
AS_ELSEWHERE = Lever("as-elsewhere", "ops as this run has them elsewhere", slot=PROGRAM)
ATTENTION = Lever("attention-block", "attention and the ops around it", merges=True)
JOINED_MATMULS = Lever("joined-matmuls", "matmuls on one input as one")
FUSION = Lever("fusion", "ops that a neighbour can do")
LAYOUT = Lever("layout-chain", "conversions, moves and copies")
PLACEMENT = Lever("placement", "activations in L1", merges=True, slot="placement")
BLOCKS = Lever("blocks", "other blocks of matmuls", merges=True, slot=PROGRAM, tries=True)
UNTRIED = Lever("untried", "not tried yet", merges=True, tries=True)
OWN_KERNEL = Lever("own-kernel", "kernels of your own", merges=True, tries=True)
OTHER_OP = Lever("other-op", "another op for the same work")
CONSTANTS = Lever("constants", "constants made once", merges=True)
L1_USE = Lever("l1-use", "use of L1")
TRACE = Lever("trace", "Metal Trace", merges=True)
LATE_CHIPS = Lever("late-chips", "Metal Trace, where chips wait for one that the host feeds late", tries=True)
HOST = Lever("host-traffic", "traffic with the host")
DEVICE = Lever("device", "how the device is opened")
EXCHANGE = Lever("exchange", "exchanges between devices")
BALANCE = Lever("balance", "work of the devices")
ACCURACY = Lever("accuracy", "accuracy")
