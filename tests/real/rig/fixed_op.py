"""The op that a fix speaks of, with its shapes, on a mock device: asked again with what the fix changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

from tests.real.rig.examples import VALUES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.rig.examples import Examples

TILE = 32
LETTERS = ("x", "w", "bias")
ALSO = {"a": 0, "b": 1, "y": 0, "q": 0, "k": 0, "v": 0, "torch_w": 1}
ATTENTION = 3  # operands: an op with fewer is one around it


@dataclass(frozen=True)
class Ops:
    """One job's op; `rest` are arguments that it keeps where a fix does not give others."""

    ttnn: Any
    device: Any
    job: dict[str, Any]
    rest: dict[str, Any] = field(default_factory=dict)

    def as_now(self) -> Ops | None:
        """The op with all that its report shows of its configs; None where they are not known."""
        told = self.job.get("now")
        names = {"ttnn": self.ttnn, "device": self.device}
        return replace(self, rest=eval(told, names)) if told else None  # noqa: S307 - ours

    def again(self) -> bool:
        """The op as it is, its operands where they lie."""
        op = replace(self, job={**self.job, "fix": ""})
        if self.job["family"] == "conv":
            return op.conv()
        minimal = "MinimalMatmul" in self.job["name"]
        return op.minimal() if minimal else op.linear()

    def tensor(self, number: int, memory: Any = None, *, of: str = "inputs") -> Any:
        """An operand of the op, interleaved where it lay."""
        told = self.job[of][number]
        ttnn = self.ttnn
        in_l1 = told["placement"].startswith("L1_INTERLEAVED") and "in DRAM too" not in self.job["fix"]
        if memory is None:
            memory = ttnn.L1_MEMORY_CONFIG if in_l1 else ttnn.DRAM_MEMORY_CONFIG
        dtype = getattr(ttnn, told["dtype"].lower())
        layout = ttnn.TILE_LAYOUT if told["layout"] == "TILE" else ttnn.ROW_MAJOR_LAYOUT
        return ttnn.zeros(told["logical"], dtype=dtype, layout=layout, device=self.device, memory_config=memory)

    def tensors(self, examples: Examples) -> dict[str, Any]:
        """The op's inputs under the names that fixes use; each made when it is asked for."""
        return Lazily(self, examples)

    def linear(self, **changed: Any) -> bool:
        """The matmul, with what the fix changes."""
        if self.job["family"] != "matmul" or len(self.job["inputs"]) < 2:
            return False
        chosen = {"program_config"} if "core_grid" in changed else set[str]()  # TTNN chooses it then
        changed = {name: value for name, value in changed.items() if name != "bias"}  # the op's own
        changed = {**{name: value for name, value in self.rest.items() if name not in chosen}, **changed}
        config = changed.get("program_config")
        if "DRAMSharded" in type(config).__name__:
            a, b = self.streamed(config)
            changed.setdefault("memory_config", self.ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG)
        else:
            operands = self._operands()
            a, b = self.tensor(0, of=operands), self.tensor(1, of=operands)
        if len(self.job["inputs"]) > 2 and "one_expert" not in self.job:  # the third of a sparse matmul is no bias
            self.ttnn.linear(a, b, bias=self.tensor(2), **changed)
        else:
            self.ttnn.matmul(a, b, **changed)
        return True

    def minimal(self, **changed: Any) -> bool:
        """The matmul as a minimal one, with what the fix changes; False where the op is none."""
        if len(self.job["inputs"]) == 1:
            return False
        kept = {name: value for name, value in self.rest.items() if name == "compute_kernel_config"}
        self.ttnn.experimental.minimal_matmul(self.tensor(0), self.tensor(1), **{**kept, **changed})
        return True

    def _operands(self) -> str:
        """Those of one expert where batches do not agree: a sparse matmul runs one after the other."""
        x, weight = (told["logical"] for told in self.job["inputs"][:2])
        if prod(weight[:-2]) == 1 or weight[:-2] == x[:-2]:
            return "inputs"
        told = self.job["inputs"][:2]
        self.job["one_expert"] = [{**one, "logical": [1, 1, *one["logical"][-2:]]} for one in told]
        return "one_expert"

    def streamed(self, config: Any) -> tuple[Any, Any]:
        """The operands as a DRAM-sharded matmul wants them; the cores as the fix says."""
        ttnn = self.ttnn
        x, w, *others = self.job["inputs"]
        if w["padded"][3] == x["padded"][3] != w["padded"][2]:  # printed as [N, K]; banks hold [K, N]
            stored = {side: [*w[side][:2], w[side][3], w[side][2]] for side in ("logical", "padded")}
            return replace(self, job={**self.job, "inputs": [x, {**w, **stored}, *others]}).streamed(config)
        told, weight = x["padded"], w["padded"]
        on = re.search(r"on (\d+) cores", self.job["fix"])
        cores = int(on.group(1)) if on else -(-weight[3] // TILE // config.per_core_N)
        grid = self.device.compute_with_storage_grid_size()
        workers = ttnn.num_cores_to_corerangeset(cores, grid, True)
        row = self._width_sharded(workers, "L1", (told[2], -(-told[3] // (TILE * cores)) * TILE))
        banks = self.device.dram_grid_size().x
        in_dram = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks - 1, 0))})
        width = -(-weight[3] // (TILE * banks)) * TILE
        return self.tensor(0, row), self.tensor(1, self._width_sharded(in_dram, "DRAM", (weight[2], width)))

    def spread(self, x: Any, cores: int) -> Any:
        """A tensor in shards of a part of its columns, on so many cores."""
        workers = self.ttnn.num_cores_to_corerangeset(cores, self.device.compute_with_storage_grid_size(), True)
        *outer, rows, columns = list(x.padded_shape)
        where = self._width_sharded(workers, "L1", (prod(outer) * rows, -(-columns // (TILE * cores)) * TILE))
        return self.ttnn.zeros(x.shape, dtype=x.dtype, layout=x.layout, device=self.device, memory_config=where)

    def _width_sharded(self, cores: Any, buffer: str, shape: tuple[int, int]) -> Any:
        ttnn = self.ttnn
        spec = ttnn.ShardSpec(cores, shape, ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, getattr(ttnn.BufferType, buffer), spec)

    def conv(self, conv: dict[str, Any] | None = None, **changed: Any) -> bool:
        """The convolution, with what the fix changes; everything else as the report has it."""
        told = self.job["convolution"]
        changed = {
            name: value for name, value in changed.items() if not name.endswith("_tensor")
        }  # as the op has them
        if told is None:
            return False
        ttnn = self.ttnn
        layout = getattr(ttnn.TensorMemoryLayout, told["layout"])
        now = {"enable_act_double_buffer": told["double"], "act_block_h_override": told["block"]}
        fields = {"shard_layout": layout, **now, **(conv or {})}
        fields.setdefault("weights_dtype", getattr(ttnn, self.job["inputs"][1]["dtype"].lower()))
        rows = told["batch_size"] * told["input_height"] * told["input_width"]
        image = ttnn.zeros(
            (1, 1, rows, told["in_channels"]), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=self.device
        )
        kernel = (told["out_channels"], told["in_channels"] // told["groups"], *told["kernel_size"])
        weight = ttnn.zeros(kernel, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
        shape = {name: value for name, value in told.items() if name not in ("layout", "double", "block")}
        changed = {**self.rest, **changed}
        changed.setdefault("conv_config", ttnn.Conv2dConfig(**fields))
        changed.setdefault("slice_config", ttnn.Conv2dL1FullSliceConfig)
        changed.setdefault("dtype", getattr(ttnn, self.job["outputs"][0]["dtype"].lower()))
        ttnn.conv2d(input_tensor=image, weight_tensor=weight, device=self.device, **shape, **changed)
        return True

    def norm(self, config: Any) -> bool:
        """The norm, sharded over as many cores as the fix says."""
        shards = self.shards_of_norm(config)
        if shards is None:
            return False
        x = self.ttnn.to_memory_config(self.tensor(0), shards)
        self.ttnn.layer_norm(x, program_config=config, memory_config=shards)
        return True

    def shards_of_norm(self, config: Any) -> Any | None:
        """Where the words of a fix want what a norm reads; None where they do not say it, or the op is no norm."""
        on = re.search(r"(WIDTH|BLOCK)_SHARDED on (\d+)x(\d+) cores", self.job["fix"])
        if on is None or self.job["family"] != "norm":
            return None
        ttnn, (layout, x, y) = self.ttnn, on.groups()
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(int(x) - 1, int(y) - 1))})
        shape = (TILE * config.block_h, TILE * config.block_w)
        spec = ttnn.ShardSpec(cores, shape, ttnn.ShardOrientation.ROW_MAJOR)
        how = getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED")
        return ttnn.MemoryConfig(how, ttnn.BufferType.L1, spec)

    def given(self, value: Any) -> bool:
        """Give a configuration to the op it is made for."""
        name = type(value).__name__
        if name.startswith("Matmul"):
            return self.linear(program_config=value)
        if name.startswith("LayerNorm"):
            return self.norm(value)
        if name == "MemoryConfig":
            of_input = any(words in self.job["fix"] for words in ("the shards of x", "shard the input"))
            self.ttnn.to_memory_config(self.tensor(0, of="inputs" if of_input else "outputs"), value)
            return True
        if "ComputeKernelConfig" in name:
            if self.job["family"] == "conv":
                return self.conv(compute_config=value)
            return self.linear(compute_kernel_config=value)
        return not name.endswith(("Conv2dConfig", "SDPAProgramConfig"))


def _width(job: dict[str, Any]) -> int:
    return job["inputs"][0]["logical"][-1]


BESIDE = {  # shapes of what lies beside the op's own operands
    "gamma": lambda job: (1, 1, 1, _width(job)),
    "beta": lambda job: (1, 1, 1, _width(job)),
    "scale": lambda job: (1, 1, 1, _width(job)),
    "shift": lambda job: (1, 1, 1, _width(job)),
    "qkv": lambda job: (
        1,
        128,
        3 * max(_width(job), job["outputs"][0]["logical"][-1]),
    ),  # the op splits one of three
}


POINTS: dict[str, Callable[..., Any]] = {  # of a grid_sample: coordinates, and what is prepared of them
    "grid": lambda of, *sides: of.on_host(*sides, 2),
    "points": lambda of, *sides: of.tiles(*sides, 6, layout="ROW_MAJOR_LAYOUT"),
}


class Lazily(dict[str, Any]):
    """Inputs of an op by name, made when they are looked up."""

    def __init__(self, ops: Ops, examples: Examples) -> None:
        super().__init__()
        self.ops, self.examples = ops, examples

    def __missing__(self, name: str) -> Any:
        inputs = self.ops.job["inputs"]
        if name in ("q", "k", "v") and len(inputs) < ATTENTION:
            raise KeyError(name)
        beside = self._beside(name, inputs)
        if beside is not None:
            return beside
        number = LETTERS.index(name) if name in LETTERS else ALSO.get(name)
        if number is None or self.ops.job["family"] == "collective" or not inputs:
            return self.examples.value(name)  # a KeyError: then it is looked for among the globals
        if number >= len(inputs) and name in VALUES and name not in ALSO:
            return self.examples.value(name)
        number = number if number < len(inputs) else 0
        if name.startswith("torch_"):
            import torch

            return torch.zeros(inputs[number]["logical"])
        return self.ops.tensor(number)

    def _beside(self, name: str, inputs: list[dict[str, Any]]) -> Any | None:
        if name == "logits":  # what the run reads back
            return self.ops.tensor(0, of="outputs")
        if name in POINTS and self.ops.job["name"].startswith("GridSample"):
            return POINTS[name](self.examples, *inputs[1]["logical"][:3])
        return self.examples.tiles(*BESIDE[name](self.ops.job)) if name in BESIDE and inputs else None
