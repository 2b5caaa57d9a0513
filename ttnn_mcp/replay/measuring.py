"""What every script of a replayed op does with it. The text of this module is a part of the script: it stands alone."""

# TTNN and torch are not there when this is checked
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

FORMAT = "ttnn-mcp replay 1"
DIFFERENT = (
    0.10  # share by which the op as profiled may differ from its profile: another pass differs by a few percent
)
PROFILER = ("TT_METAL_DEVICE_PROFILER", "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_CPP_POST_PROCESS")
KERNEL_TIME = "DEVICE KERNEL DURATION [ns]"
BUFFERS = ("circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate")
SUFFIX = re.compile(r"(Codegen)?(DeviceOperation|Operation|Op)?$")  # what builds add to the name of an op
TRACE_BYTES = 1 << 22
TILE, TILE_BYTES = 32, 2_048  # of BFLOAT16
ROUNDS = 5  # from which on one that is far off, as a first one may be, is no noise


class Replay:
    """One op, its candidates, and how it is called."""

    def __init__(self, ttnn: Any, torch: Any, facts: dict[str, Any], calls: dict[str, Any]) -> None:
        self.ttnn, self.torch, self.facts = ttnn, torch, facts
        self.candidates: list[dict[str, Any]] = facts["candidates"]
        self.operands, self.call, self.reference = calls["operands"], calls["call"], calls["reference"]

    def settings(self, number: int) -> dict[str, Any]:
        """The settings of a candidate: the profile's, but for those that it changes."""
        return {**self.facts["settings"], **self.candidates[number]["settings"]}


def main(replay: Replay) -> None:
    """Try the candidates, each in a process of its own, and write what came of them."""
    asked = _options()
    if asked.candidates is not None:
        _answer(replay, asked)
        return
    outcomes: list[dict[str, Any]] = []
    about: dict[str, Any] = {"mode": "accepted" if asked.accept else "measured", "ended": None}
    out = Path(asked.out or Path(sys.argv[0]).with_suffix(".json"))
    while len(outcomes) < len(replay.candidates):
        number = len(outcomes)
        if about["ended"] is not None or _cannot_win(replay.candidates[number], outcomes, asked):
            why = about["ended"] or "what is measured is faster than this is expected to be at best"
            answers: list[dict[str, Any]] = [{"outcome": "skipped", "why": why}]
        else:
            last = len(replay.candidates) if asked.accept else number + 1
            answers = _in_a_process(range(number, last), asked)
        for answer in answers:
            candidate = replay.candidates[len(outcomes)]
            machine: dict[str, Any] = answer.pop("machine", None) or {}
            outcomes.append({"name": candidate["name"], "settings": candidate["settings"], **answer})
            print(_line(outcomes[-1]), flush=True)  # noqa: T201 - who waits for a sweep sees how far it is
            about["ended"] = about["ended"] or _other_clock(about, machine)
            about |= {key: value for key, value in machine.items() if value is not None}
        if not asked.accept and not asked.anyway:
            about["ended"] = about["ended"] or _unlike_its_profile(replay.facts, outcomes[0])
        _keep(out, replay, outcomes, about)
    timed = ["median_us" in one for one in outcomes]
    if about["ended"] is None and timed[0] and any(timed[1:]):
        (again,) = _in_a_process(range(1), asked)
        about["again_us"] = again.get("median_us")
        about["ended"] = _drifted(outcomes[0], again) or _other_clock(about, again.get("machine") or {})
        _keep(out, replay, outcomes, about)
    ended = f"ended: {about['ended']}\n" if about["ended"] else ""
    print(f"{ended}written: {out}")  # noqa: T201 - to the user's terminal


def _keep(out: Path, replay: Replay, outcomes: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write what is known so far: a sweep that is interrupted keeps its measurements."""
    document = {"format": FORMAT, **replay.facts, "candidates": outcomes, **about}
    part = out.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    part.replace(out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Replay one op of a profile with its candidate settings.")
    parser.add_argument("--accept", action="store_true", help="only whether TTNN takes them, and their L1")
    parser.add_argument("--out", help="where the results go (default: beside this script, .json)")
    parser.add_argument("--repeats", type=int, default=7, help="rounds that the median is taken of")
    parser.add_argument("--calls", type=int, default=20, help="calls in a round")
    parser.add_argument("--warm-up", type=int, default=3, help="calls before the first round")
    parser.add_argument(
        "--limit-s", type=float, default=180.0, help="seconds after which a candidate counts as hung"
    )
    parser.add_argument("--anyway", action="store_true", help="go on where the op does not take its profile's time")
    parser.add_argument("--candidates", help=argparse.SUPPRESS)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_a_process(numbers: range, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """The answers of candidates, up to one at which the process dies or hangs; it is ended with all that it started."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.json"
        chosen = ",".join(map(str, numbers))
        command = [sys.executable, os.path.realpath(sys.argv[0]), "--candidates", chosen, "--answer", str(answers)]
        command += ["--repeats", str(asked.repeats), "--calls", str(asked.calls), "--warm-up", str(asked.warm_up)]
        command += ["--accept"] if asked.accept else []
        environment = {**os.environ, "TT_METAL_PROFILER_DIR": folder}
        if not asked.accept:
            environment |= dict.fromkeys(PROFILER, "1")
        with subprocess.Popen(  # noqa: S603 - this script again
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
            start_new_session=not asked.accept,  # who proves on mock devices ends all of them together
        ) as process:
            try:
                _, printed = process.communicate(timeout=asked.limit_s)
                lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
                why = f"exit status {process.returncode}: {(lines or [''])[-1][:300]}"
                failed = {"outcome": "died", "why": why}
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    process.kill() if asked.accept else os.killpg(process.pid, signal.SIGKILL)
                failed = {"outcome": "hung", "why": f"no answer after {asked.limit_s:g} s"}
        written = answers.read_text(encoding="utf-8").splitlines() if answers.is_file() else []
        outcomes: list[dict[str, Any]] = []
        with suppress(ValueError):  # of a process that died while it wrote, the last line is cut off
            outcomes.extend(map(json.loads, written))
        return outcomes if len(outcomes) == len(numbers) else [*outcomes, failed]


def _answer(replay: Replay, asked: argparse.Namespace) -> None:
    """Within that process: the answers, a line each as soon as it is there."""
    device = _opened(replay)
    with Path(asked.answer).open("a", encoding="utf-8", buffering=1) as lines:
        for number in map(int, asked.candidates.split(",")):
            answer = _candidate(replay, device, replay.settings(number), asked)
            lines.write(json.dumps(answer) + "\n")
    with suppress(Exception):
        _closed(replay, device)


def _candidate(replay: Replay, device: Any, settings: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    machine = _machine(replay, device)
    try:
        device.clear_program_cache()  # a cached program shows no buffers, and one of a conv keeps its tables in L1
        values = None
        if not asked.accept:
            replay.torch.manual_seed(0)
            values = [_value(replay, one) for one in replay.operands(settings)]
        operands = _made(replay, device, settings, values)
        beside = _beside(replay, device)
        answer = _accepted(replay, device, operands, settings, dry=asked.accept)
        if beside is not None and "tensor_bytes" in answer:
            answer["tensor_bytes"] -= beside.shape[-2] // TILE * TILE_BYTES
        if values is not None:
            answer |= _measured(replay, device, (operands, values), settings, asked)
            machine["clock_mhz"] = _clock_mhz()
    except Exception as refused:  # noqa: BLE001 - whatever TTNN raises is the answer
        answer = {"outcome": "refused", "why": _first_line(refused)}
    return {**answer, "machine": machine}


def _opened(replay: Replay) -> Any:
    ttnn, mesh = replay.ttnn, replay.facts["mesh"]
    small = {"l1_small_size": replay.facts["l1_small_bytes"], "trace_region_size": TRACE_BYTES}
    if mesh is None:
        return ttnn.open_device(device_id=0, **small)
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    return ttnn.open_mesh_device(ttnn.MeshShape(*mesh), **small)


def _closed(replay: Replay, device: Any) -> None:
    (replay.ttnn.close_device if replay.facts["mesh"] is None else replay.ttnn.close_mesh_device)(device)


def _machine(replay: Replay, device: Any) -> dict[str, Any]:
    """TTNN's version and the chip that the results are bound to."""
    version = str(getattr(replay.ttnn, "__version__", "") or "")
    with suppress(metadata.PackageNotFoundError):
        version = version or metadata.version("ttnn")
    grid = device.compute_with_storage_grid_size()
    mock = bool(os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"))
    arch = str(device.arch()).rpartition(".")[2].lower()
    return {"ttnn": version, "chip": {"arch": arch, "grid": [grid.x, grid.y], "mock": mock}, "clock_mhz": None}


def _clock_mhz() -> int | None:
    """The chip's clock, as the device profiler writes it above its log."""
    for log in Path(os.environ.get("TT_METAL_PROFILER_DIR", ".")).rglob("profile_log_device.csv"):
        with log.open(encoding="utf-8") as lines:
            first = lines.readline().partition("CHIP_FREQ[MHz]:")[2].split(",")[0].strip()
        return int(first) if first.isdecimal() else None
    return None


def _value(replay: Replay, one: dict[str, Any]) -> Any:
    """What an operand holds: random numbers, unless it holds places."""
    torch, shape, kind = replay.torch, one["shape"], one["values"]
    if kind.startswith("all "):
        return torch.full(shape, int(kind.split()[1]), dtype=torch.int32)
    if kind.startswith("below "):
        return torch.randint(int(kind.split()[1]), shape, dtype=torch.int32)
    if kind.startswith("pages below "):  # each its own, as far as there are so many
        return (torch.arange(shape[0] * shape[1], dtype=torch.int32) % int(kind.split()[2])).reshape(shape)
    return torch.randn(shape)


def _made(replay: Replay, device: Any, settings: dict[str, Any], values: list[Any] | None) -> list[Any]:
    """The operands on the device, or zeros of their kind, where only TTNN's consent is asked for."""
    ttnn, tensors = replay.ttnn, []
    for place, one in enumerate(replay.operands(settings)):
        kind: dict[str, Any] = {"dtype": one["dtype"], "layout": one["layout"]}
        if one["memory"] is not None:
            kind |= {"device": device, "memory_config": one["memory"]}
        value = values[place] if values is not None else None
        tensors.append(ttnn.zeros(one["shape"], **kind) if value is None else ttnn.from_torch(value, **kind))
    return tensors


def _beside(replay: Replay, device: Any) -> Any:
    """What else lay in L1, as one tensor: by what is free TTNN chooses programs, and refuses some."""
    ttnn, free = replay.ttnn, replay.facts.get("free_bytes")
    with suppress(Exception):  # a build that does not tell what is free
        view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
        tiles = 0 if free is None else (int(view.largest_contiguous_bytes_free_per_bank) - free) // TILE_BYTES
        if tiles > 0:
            kind = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "memory_config": ttnn.L1_MEMORY_CONFIG}
            return ttnn.empty((1, 1, TILE * tiles, TILE * int(view.num_banks)), device=device, **kind)
    return None


def _accepted(
    replay: Replay, device: Any, operands: list[Any], settings: dict[str, Any], *, dry: bool
) -> dict[str, Any]:
    """Whether TTNN takes the call, what it became, and the L1 that it took."""
    ttnn, answer = replay.ttnn, {}
    if dry:
        modes = ttnn.graph.RunMode
        graphs = []
        for mode in (modes.NO_DISPATCH, modes.NORMAL):
            ttnn.graph.begin_graph_capture(mode)
            try:
                result = replay.call(device, operands, settings)
            finally:
                graphs.append(ttnn.graph.end_graph_capture())
        programs = _programs(graphs[0])
        answer["device_ops"] = [name for name, _ in programs]
        mine = [size for name, size in programs if _is_replayed(replay, name)]
        answer["buffer_bytes"] = max(mine or [size for _, size in programs], default=0)
        view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
        answer["tensor_bytes"] = int(view.total_bytes_allocated_per_bank)
    else:
        result = replay.call(device, operands, settings)
    first = result[0] if isinstance(result, (list, tuple)) else result
    answer["output"] = {
        name: str(getattr(first, name)) for name in ("shape", "dtype", "layout") if hasattr(first, name)
    }
    with suppress(Exception):
        answer["output"]["memory"] = str(first.memory_config())
    return {"outcome": "accepted", **answer}


def _programs(graph: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The device ops of a captured graph: names, and bytes of their own buffers on the fullest core."""
    programs: list[tuple[str, Counter[tuple[int, int]]]] = []
    for node in graph:
        params = node.get("params") or {}
        name = str(params.get("name", ""))
        if node.get("node_type") == "function_start" and "program_factory_type" in params and name:
            programs.append((name, Counter()))
        borrowed = "1" in (str(params.get("globally_allocated")), str(params.get("borrows_memory")))
        if node.get("node_type") in BUFFERS and programs and not borrowed:
            for core in _cores(str(params.get("core_range_set", ""))):
                programs[-1][1][core] += int(params.get("size", 0))
    return [(name, max(used.values(), default=0)) for name, used in programs]


def _cores(text: str) -> list[tuple[int, int]]:
    """The cores of `{[0-0 - 7-7]}`."""
    corners = [map(int, one) for one in re.findall(r"(\d+)-(\d+) - (\d+)-(\d+)", text)]
    return [(x, y) for x1, y1, x2, y2 in corners for x in range(x1, x2 + 1) for y in range(y1, y2 + 1)]


def _measured(
    replay: Replay,
    device: Any,
    tensors: tuple[list[Any], list[Any]],
    settings: dict[str, Any],
    asked: argparse.Namespace,
) -> dict[str, Any]:
    """Its result against torch, and its time: the kernel's by the device profiler, and that of a traced replay."""
    operands, values = tensors

    def run() -> Any:
        return replay.call(device, operands, settings)

    answer: dict[str, Any] = {"outcome": "measured", "pcc": _pcc(replay, run(), values)}
    for _ in range(asked.warm_up):
        run()
    place, ops = _place(replay, run)
    rounds = []
    for _ in range(asked.repeats):
        _kernels(replay, device)
        for _ in range(asked.calls):
            run()
        rounds.append(_of_the_op(_kernels(replay, device), asked.calls, place, len(ops)))
    traced = _traced(replay, device, run, asked)
    kernel = [one for one in rounds if one is not None]
    times = kernel if len(kernel) == asked.repeats else traced
    answer |= {"device_ops": ops, "us": times, "source": "device profiler" if times is kernel else "traced replay"}
    answer["traced_us"] = median(traced) if traced else None
    if not times:
        return {**answer, "outcome": "not measured", "why": "this build profiles no device and replays no trace"}
    answer["median_us"] = median(times)
    answer["noise_share"] = _noise(times)
    return answer


def _noise(times: list[float]) -> float:
    """The spread of the rounds as a share of their median, without the one furthest off where there are enough."""
    middle = median(times)
    kept = sorted(times, key=lambda one: abs(one - middle))[: len(times) - (len(times) >= ROUNDS)]
    return (max(kept) - min(kept)) / middle if middle else 0.0


def _place(replay: Replay, run: Any) -> tuple[int | None, list[str]]:
    """Which of the call's device ops is the one replayed; None for all of them."""
    try:
        graph = replay.ttnn.graph
        graph.begin_graph_capture(graph.RunMode.NORMAL)
        try:
            run()
        finally:
            captured = graph.end_graph_capture()
    except Exception:  # noqa: BLE001 - a build without graphs: the call is taken whole
        return None, []
    names = [name for name, _ in _programs(captured)]
    mine = [place for place, name in enumerate(names) if _is_replayed(replay, name)]
    return (mine[-1] if mine else None), names


def _is_replayed(replay: Replay, name: str) -> bool:
    return SUFFIX.sub("", name.rpartition("::")[2]).lower() in replay.facts["names"]


def _kernels(replay: Replay, device: Any) -> list[float]:
    """Times in us of the programs since this was asked last, in their order, of the slowest chip."""
    ttnn = replay.ttnn
    ttnn.synchronize_device(device)
    try:
        ttnn.ReadDeviceProfiler(device)
        chips = (ttnn.get_latest_programs_perf_data() or {}).values()
    except Exception:  # noqa: BLE001 - a build without profiler
        return []
    of_chips: list[list[float]] = []
    for programs in chips:
        results = [getattr(program, "program_analyses_results", None) or {} for program in programs]
        timed = [one[KERNEL_TIME] for one in results if KERNEL_TIME in one]
        of_chips.append([one.duration / 1e3 for one in sorted(timed, key=_start)])
    return max(of_chips, key=sum, default=[])


def _start(result: Any) -> float:
    return result.start_timestamp


def _of_the_op(kernels: list[float], calls: int, place: int | None, ops: int) -> float | None:
    """The median call's time: of the op at this place where a call runs so many programs, else of all of them.

    None where the programs are no whole number per call.
    """
    each, rest = divmod(len(kernels), calls)
    if rest or not each:
        return None
    mine = slice(each) if place is None or each != ops else slice(place, place + 1)
    return median(sum(kernels[at : at + each][mine]) for at in range(0, len(kernels), each))


def _traced(replay: Replay, device: Any, run: Any, asked: argparse.Namespace) -> list[float]:
    """Times in us of a call in a traced replay; none where the build or the op cannot be traced."""
    ttnn, times = replay.ttnn, []
    try:
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        for _ in range(asked.calls):
            run()
        ttnn.end_trace_capture(device, trace, cq_id=0)
        for _ in range(asked.repeats):
            start = time.perf_counter()
            ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
            times.append((time.perf_counter() - start) * 1e6 / asked.calls)
        ttnn.release_trace(device, trace)
    except Exception:  # noqa: BLE001 - it is one of two ways
        return []
    return times


def _pcc(replay: Replay, result: Any, values: list[Any]) -> float | None:
    """The correlation of the result with float32 on torch; None where it is not compared."""
    if replay.reference is None:
        return None
    first = result[0] if isinstance(result, (list, tuple)) else result
    got = replay.ttnn.to_torch(first).flatten().double()
    wanted = replay.reference(values).flatten().double()
    if got.numel() != wanted.numel():
        return None
    got, wanted = got - got.mean(), wanted - wanted.mean()
    size = float(got.norm() * wanted.norm())
    pcc = float((got * wanted).sum()) / size if size else 0.0
    return 0.0 if math.isnan(pcc) else pcc  # a result that is no number is like none


def _cannot_win(candidate: dict[str, Any], outcomes: list[dict[str, Any]], asked: argparse.Namespace) -> bool:
    """Whether something measured is already faster than this candidate is expected to be at best."""
    best = min((one["median_us"] for one in outcomes[1:] if "median_us" in one), default=None)
    least = candidate.get("low_us")
    return not asked.accept and best is not None and least is not None and best < least


def _unlike_its_profile(facts: dict[str, Any], answer: dict[str, Any]) -> str | None:
    """Why the sweep ends after the op as profiled: it does not run, or not as in the profile."""
    if "median_us" not in answer:
        return f"the op as profiled was {answer['outcome']}: {answer.get('why', '')}"
    profile, here = facts["kernel_us"], answer["median_us"]
    if profile is None or abs(here - profile) <= DIFFERENT * profile or answer["source"] != "device profiler":
        return None
    return f"the op as profiled takes {here:.1f} us here and {profile:.1f} us in its profile: it is not the same op"


def _drifted(first: dict[str, Any], again: dict[str, Any]) -> str | None:
    """Why the candidates cannot be compared: the op as profiled is not as fast after them as before."""
    before, after = first["median_us"], again.get("median_us")
    if after is None:
        return f"the op as profiled, again after the candidates, was {again['outcome']}: {again.get('why', '')}"
    if abs(after - before) <= DIFFERENT * before:
        return None
    return f"the op as profiled took {before:.1f} us before the candidates and {after:.1f} us after them"


def _other_clock(about: dict[str, Any], machine: dict[str, Any]) -> str | None:
    """Why the candidates cannot be compared: the chip's clock changed."""
    before, now = about.get("clock_mhz"), machine.get("clock_mhz")
    return f"the chip's clock changed from {before} to {now} MHz" if before and now and before != now else None


def _line(answer: dict[str, Any]) -> str:
    parts = [f"{answer['name']}: {answer['outcome']}"]
    if "median_us" in answer:
        parts.append(f"{answer['median_us']:.2f} us by the {answer['source']}, noise {answer['noise_share']:.1%}")
    if answer.get("pcc") is not None:
        parts.append(f"PCC {answer['pcc']:.5f}")
    if "buffer_bytes" in answer:
        parts.append(f"{answer['buffer_bytes']} bytes of buffers per core")
    return ", ".join([*parts, *([answer["why"]] if answer.get("why") else [])])


def _first_line(raised: BaseException) -> str:
    """What TTNN says, without its backtrace."""
    lines = [line.strip() for line in str(raised).split("backtrace:")[0].splitlines() if line.strip()]
    sentence = lines[lines.index("info:") + 1] if "info:" in lines[:-1] else (lines or [""])[0]
    return f"{type(raised).__name__}: {sentence}"[:300]
