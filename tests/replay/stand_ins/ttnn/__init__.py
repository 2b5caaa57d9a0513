"""A recording stand-in for TTNN: a matmul of any config, whose time, result and manners a test writes into STAND_IN.

STAND_IN is JSON: per in0_block_w ("chosen" without a config) a list of times in us, one per round, or "refuse", "die",
"wrong", "kill", "torn" (killed while it writes its answer), "nan" (its result is no number). `processes` is a file
that counts the processes of the sweep: `slower` are factors of their times, and `mhz` the clocks that they tell.
"""

import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

__version__ = "0.0.stand-in"
MANNERS = json.loads(os.environ.get("STAND_IN", "{}"))
_launched = []
_slower = [1.0]


class Named:
    """Any name of TTNN: called, it keeps what it was given."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        return Named(f"{self.name}.{name}")

    def __call__(self, *given, **named):
        return SimpleNamespace(kind=self.name, given=given, **named)


def __getattr__(name):
    if name in ("begin_trace_capture", "graph") and "trace" not in MANNERS:
        raise AttributeError(name)  # a build that traces nothing
    return Named(name)


class Device:
    rounds = -1

    def arch(self):
        return "Arch.WORMHOLE_B0"

    def compute_with_storage_grid_size(self):
        return SimpleNamespace(x=8, y=8)

    def clear_program_cache(self):
        pass


def open_device(device_id, **sizes):
    assert device_id == 0, sizes
    if "processes" in MANNERS:
        with Path(MANNERS["processes"]).open("a") as file:
            file.write(".")
        number = Path(MANNERS["processes"]).stat().st_size
        _slower[:] = MANNERS.get("slower", [])[number - 1 :][:1] or [1.0]
        if "mhz" in MANNERS:
            log = Path(os.environ["TT_METAL_PROFILER_DIR"], "profile_log_device.csv")
            log.write_text(f"ARCH: x, CHIP_FREQ[MHz]: {MANNERS['mhz'][number - 1]}, cores: 64\n")
    return Device()


def close_device(device):
    pass


def synchronize_device(device):
    pass


def from_torch(value, **kind):
    assert {"dtype", "layout", "device", "memory_config"} <= {*kind}
    return value


def to_torch(value):
    return value


def matmul(a, b, program_config, **named):
    manner = MANNERS[str(program_config.in0_block_w) if program_config else "chosen"]
    if manner == "refuse":
        raise RuntimeError("TT_FATAL: no\ninfo:\nit must divide K\nbacktrace:\n --- here")
    if manner == "die":
        os._exit(3)
    if manner in ("kill", "torn"):
        if manner == "torn":
            Path(sys.argv[sys.argv.index("--answer") + 1]).write_text('{"outcome": "measu')
        os.kill(os.getpid(), signal.SIGKILL)
    _launched.append(manner if isinstance(manner, list) else MANNERS["wrong_us"])
    if manner == "nan":
        return type(a)([float("nan")] * a.numel())
    return b if manner == "wrong" else a @ b


def ReadDeviceProfiler(device):  # noqa: N802 - TTNN's name
    device.rounds += bool(_launched)


def get_latest_programs_perf_data():
    if not os.environ.get("TT_METAL_DEVICE_PROFILER"):
        return {}
    at = max(Device.rounds, 0)
    programs = [
        SimpleNamespace(
            program_analyses_results={
                "DEVICE KERNEL DURATION [ns]": SimpleNamespace(
                    duration=times[at % len(times)] * 1e3 * _slower[0], start_timestamp=place
                )
            }
        )
        for place, times in enumerate(_launched)
    ]
    _launched.clear()
    Device.rounds = at + 1 if programs else Device.rounds
    return {0: programs}
