"""What people ask of a profile: thirty questions, the calls that answer each, and the answer by other means.

The other means share no code with the package: the csv module, SQL, and TTNN's own figures beside its reports. An answer
costs tokens, so the bank has a price: one call for most questions, never more than three, and a budget for all.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from tests.asking import ask, session
from tests.language_model import USERS, LanguageModel
from tests.oracles.roofs import BLACKHOLE, WORMHOLE, dram_us, engine_us, roof_us, rows_in
from tests.oracles.sentences import flaws
from tests.pairs import Model, write
from tests.profiles import Iteration, write_performance_report
from tests.profiles.demo import FIGURES, FOLDER
from tests.real.stored_truth import folder_of, truth_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, SHARED, shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("opened_once")

CALLS_AT_MOST, BYTES_AT_MOST = 3, 45_000  # of a question; of all answers together, as JSON
KERNEL, GAP = "DEVICE KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"
MADE = {
    "base": Model(up_ns=2_000_000),
    "six times faster": Model(up_ns=50_000, weights="BFLOAT8_B", fused_qkv=True),
    "fidelity": Model(up_ns=1_500_000, fidelity="LoFi"),
}

Answer = dict[str, Any]
Asked = tuple[str, dict[str, object]]


@dataclass(frozen=True)
class Question:
    """`report`: what `run` is; `calls`: tool and arguments; `right`: asserts that the answers hold the answer."""

    words: str
    report: str
    calls: tuple[Asked, ...]
    right: Callable[..., None]


QUESTIONS: list[Question] = []


def question(words: str, report: str, *calls: Asked) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a question to the bank; its function checks the answers."""

    def added(right: Callable[..., None]) -> Callable[..., None]:
        QUESTIONS.append(Question(words, report, calls, right))
        return right

    return added


def path_of(report: str, folder: Path) -> str:
    """Where a report lies; made ones are written there."""
    if report.endswith(".csv"):
        return str(shared(report))
    if report in MADE:
        return write(folder / report.replace(" ", "-"), MADE[report])
    if report == "decoding":
        passes = (Iteration(cold=True), Iteration())
        return str(write_performance_report(folder / report, LanguageModel().prefill().decode(), passes))
    return report if report == "demo" else str(folder_of(report))


@cache
def lines(report: str) -> dict[int, dict[str, str]]:
    """The rows of a CSV by their line."""
    with shared(report).open(newline="", encoding="utf-8") as file:
        return {line: row for line, row in enumerate(csv.DictReader(file), start=2) if "device" in row["OP TYPE"]}


def us(report: str, wanted: Callable[[dict[str, str]], object] = bool, since: int = 0) -> float:
    """Kernel time of some rows."""
    return (
        sum(float(row[KERNEL] or 0) for line, row in lines(report).items() if line >= since and wanted(row)) / 1e3
    )


def sql(report: str, text: str) -> list[Any]:
    """Rows of a memory report."""
    with closing(sqlite3.connect(folder_of(report) / "db.sqlite")) as connection:
        return connection.execute(text).fetchall()


def rows(table: Answer) -> list[Answer]:
    """A table's rows by column."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def near(figure: float) -> Any:
    """As rounded in an answer."""
    return pytest.approx(figure, abs=0.02)


@cache
def demo_lines() -> dict[int, dict[str, str]]:
    """The rows of the demo's CSV by their line."""
    return rows_in(next(FOLDER.rglob("ops_perf_results*.csv")))


def demo_limit() -> int:
    """What TTNN lets circular buffers take of L1, by the demo's memory report."""
    with closing(sqlite3.connect(next(FOLDER.rglob("db.sqlite")))) as connection:
        return connection.execute("SELECT cb_limit FROM devices").fetchone()[0]


DEMO_WARM = 42  # the line at which the demo's second pass begins
WARM = 938  # the line at which the second pass of the encoder begins
OPS = {"limit": 1}


@question("Which op takes most of the encoder's time, how much, and where is it worst?", CLIP,
          ("list_ops", {"group_by": "op_code", **OPS}))  # fmt: skip
def _(answer: Answer) -> None:
    (first,) = rows(answer["groups"])
    times = Counter[str]()
    for line, row in lines(CLIP).items():
        times[row["OP CODE"]] += int(row[KERNEL]) if line >= WARM else 0
    (code, ns), *_ = times.most_common()
    assert (first["key"], first["kernel_us"]) == (code, near(ns / 1e3))
    assert first["heaviest_us"] == near(
        max(int(row[KERNEL]) for row in lines(CLIP).values() if row["OP CODE"] == code) / 1e3
    )


@question("How fast could the encoder be as it is, and what eats the rest?", CLIP, ("time_budget", {}))
def _(answer: Answer) -> None:
    assert answer["kernel_us"] == near(us(CLIP, since=WARM))
    assert sum(one["time_us"] for one in rows(answer["ledger"])) == pytest.approx(answer["window_us"], rel=1e-3)
    floor = next(one["time_us"] for one in rows(answer["floors"]) if one["what"] == "as_it_is")
    peak = WORMHOLE._replace(dram_gb_s=288)
    warm = [row for line, row in lines(CLIP).items() if line >= WARM]
    assert answer["kernel_us"] == near(us(CLIP, since=WARM))
    gaps = sum(float(row[GAP]) for line, row in lines(CLIP).items() if line > WARM) / 1e3
    assert sum(one["time_us"] for one in rows(answer["ledger"])) == pytest.approx(
        answer["kernel_us"] + gaps, rel=1e-3
    )
    assert floor == pytest.approx(sum(min(roof_us(row, peak), int(row[KERNEL]) / 1e3) for row in warm), rel=0.02)


@question("What is to be done to the encoder, in what order, and what do I win in all?", CLIP,
          ("optimization_check", {}))  # fmt: skip
def _(answer: Answer) -> None:
    plan, total = rows(answer["plan"]), answer["total"]
    assert [one["rank"] for one in plan] == [*range(1, len(plan) + 1)]
    warm = {line: row for line, row in lines(CLIP).items() if line >= WARM}
    gaps = sum(float(row[GAP]) for line, row in warm.items() if line > WARM) / 1e3
    assert total["before_us"] == near(us(CLIP, since=WARM) + gaps)
    few_rows = us(CLIP, lambda row: row["OP CODE"].startswith("MinimalMatmul"), WARM)
    assert plan[0]["share"] == pytest.approx(few_rows / total["before_us"], abs=1e-4)
    assert total["after_us"] == pytest.approx(total["before_us"] - sum(one["then_us"] for one in plan), rel=5e-3)
    assert answer["findings"][0]["fix"]


@question("How many of the encoder's ops run on an eighth of the cores or less, and what do they take?", CLIP,
          ("list_ops", {"max_cores": 8, **OPS}))  # fmt: skip
def _(answer: Answer) -> None:
    few = [row for line, row in lines(CLIP).items() if line >= WARM and int(row["CORE COUNT"]) <= 8]
    assert answer["total"] == {"count": len(few), "kernel_us": near(sum(int(row[KERNEL]) for row in few) / 1e3)}


@question("How much time passes between the encoder's kernels, and after which ops?", CLIP, ("host_overhead", {}))
def _(answer: Answer) -> None:
    gaps = {line: int(row[GAP]) for line, row in lines(CLIP).items() if line > WARM}
    assert answer["gap_ms"] == pytest.approx(sum(gaps.values()) / 1e6, abs=0.01)
    assert rows(answer["largest_gaps"])[0]["op"] == max(gaps, key=lambda line: gaps[line])


@question("Why is the matmul on the last line so slow?", DEEPLAB, ("op_detail", {"op": 388}))
def _(answer: Answer) -> None:
    row, roofline = lines(DEEPLAB)[388], answer["roofline"]
    assert (answer["kernel_us"], answer["cores"]) == (near(int(row[KERNEL]) / 1e3), int(row["CORE COUNT"]))
    assert roofline["bound"] == "dram"
    at_peak_us = dram_us(row, BLACKHOLE._replace(dram_gb_s=512))
    assert roofline["dram_us"] == near(at_peak_us)
    assert roofline["efficiency"] == pytest.approx(at_peak_us * 1e3 / int(row[KERNEL]), abs=1e-3)
    assert answer["cores"] < answer["worker_cores"]


@question("Which convolution is the slowest, and what do all of them take?", DEEPLAB,
          ("list_ops", {"op_code": "Conv2d", **OPS}))  # fmt: skip
def _(answer: Answer) -> None:
    convs = {line: row for line, row in lines(DEEPLAB).items() if "Conv2d" in row["OP CODE"]}
    assert answer["total"] == {
        "count": len(convs),
        "kernel_us": near(us(DEEPLAB, lambda row: "Conv2d" in row["OP CODE"])),
    }
    assert rows(answer["ops"])[0]["op"] == max(convs, key=lambda line: int(convs[line][KERNEL]))


@question("Which chip is the slowest, and which op makes the chips differ?", DEEPSEEK, ("device_balance", {}))
def _(answer: Answer) -> None:
    chips = {chip: us(DEEPSEEK, lambda row, chip=chip: row["DEVICE ID"] == chip) for chip in map(str, range(8))}
    assert {str(one["device"]): one["kernel_us"] for one in rows(answer["devices"])} == pytest.approx(
        chips, abs=0.02
    )
    assert str(answer["critical_device"]) == max(chips, key=lambda chip: chips[chip])
    assert answer["imbalance"][0]["op_code"] == "RingJointSDPA"


@question("How much of the time is attention, matmul, collectives?", DEEPSEEK,
          ("list_ops", {"group_by": "category", "limit": 3}))  # fmt: skip
def _(answer: Answer) -> None:
    attention, matmuls, collectives = rows(answer["groups"])
    assert (attention["key"], matmuls["key"], collectives["key"]) == ("attention", "matmul", "collective")
    assert attention["kernel_us"] == near(us(DEEPSEEK, lambda row: "SDPA" in row["OP CODE"]))
    assert attention["share"] == pytest.approx(attention["kernel_us"] / us(DEEPSEEK), abs=1e-4)


@question("Does anything run at a higher fidelity than its operands need?", OFT, ("tensor_formats", {}))
def _(answer: Answer) -> None:
    high = [row for row in lines(OFT).values() if "Conv" in row["OP CODE"] and row["MATH FIDELITY"] == "HiFi4"]
    convs = next(one for one in rows(answer["fidelity"]) if one["op_code"] == "Conv2d")
    assert (convs["fidelity"], convs["in1"], convs["ops"]) == ("HiFi4", "BFLOAT8_B", len(high))
    assert convs["kernel_us"] == near(sum(int(row[KERNEL]) for row in high) / 1e3)


@question("Which moves between placements can go, and what would that give at most?", SEGFORMER,
          ("reshard_detect", {"limit": 1}))  # fmt: skip
def _(answer: Answer) -> None:
    heaviest = max(
        (line for line, row in lines(SEGFORMER).items() if "Sharded" in row["OP CODE"]),
        key=lambda line: int(lines(SEGFORMER)[line][KERNEL]),
    )
    assert answer["patterns"][0]["fix"]
    assert heaviest in [op for pattern in answer["patterns"] for op in pattern["ops"]] + [
        one["op"] for one in rows(answer["moves"])
    ]


@question("How is the work placed, and which ops leave cores idle?", SEGFORMER, ("sharding_summary", {"limit": 2}))
def _(answer: Answer) -> None:
    placed = rows(answer["distribution"])
    assert sum(one["kernel_us"] for one in placed) == pytest.approx(us(SEGFORMER), abs=1)
    few = next(one for one in rows(answer["low_core_ops"]) if one["op_code"] == "Conv2d")
    convs = [row for row in lines(SEGFORMER).values() if "Conv" in row["OP CODE"] and row["CORE COUNT"] == "8"]
    assert (few["cores"], few["count"]) == (8, len(convs))
    assert few["kernel_us"] == near(sum(float(row[KERNEL]) for row in convs) / 1e3)


@question("How many ops of each fidelity are there?", SEGFORMER,
          ("query_run", {"sql": "SELECT fidelity, count(*) FROM ops WHERE op_code LIKE '%Matmul%' GROUP BY 1"}))  # fmt: skip
def _(answer: Answer) -> None:
    counts = Counter(row["MATH FIDELITY"] for row in lines(SEGFORMER).values() if "Matmul" in row["OP CODE"])
    assert dict(answer["rows"]) == counts


@question("Can I trust this report, and what can it not tell?", SEGFORMER, ("open_run", {}))
def _(answer: Answer) -> None:
    assert answer["rows"]["device"] == len(lines(SEGFORMER))
    assert any(one.startswith("memory_summary") for one in answer["not_answerable"])
    assert answer["window"]["warm"] is False


@question("How many tokens per second and user does the decoder reach?", "decoding", ("model_stages", {}))
def _(answer: Answer) -> None:
    decode = next(one for one in rows(answer["stages"]) if one["stage"] == "decode")
    sampling = next(one for one in rows(answer["stages"]) if one["stage"] == "sampling")
    assert decode["users"] == USERS
    assert (decode["kernel_us"], sampling["kernel_us"]) == (200 + 10 * 10, 2 * 10)  # the head, and ops of 10 us
    assert decode["tokens_s_user_at_most"] == near(1e6 / 320)


@question("Is it faster by 83 %, and can one change be credited with it?", "base",
          ("compare_runs", {"candidate": "six times faster", "limit": 1}))  # fmt: skip
def _(answer: Answer) -> None:
    assert answer["change_share"] < -0.83
    assert (answer["verdict"], answer["credit"]) == ("faster", "unproven")
    assert [one["reason"] if "reason" in one else one["code"] for one in rows(answer["suspicious"])] == [
        "several_changes"
    ]


@question("Which ops made the difference, and did the change reach all of them?", "base",
          ("compare_runs", {"candidate": "fidelity", "limit": 1}))  # fmt: skip
def _(answer: Answer) -> None:
    assert (answer["verdict"], answer["credit"]) == ("faster", "one_change")
    first = rows(answer["groups"])[0]
    assert first["key"] == "Matmul"
    assert first["delta_us"] < 0
    engaged = rows(answer["engaged"])[0]
    assert engaged["took"] == engaged["of"]


@question("Does a block of 64 rows fit the fullest convolution, and what would it give?", "demo",
          ("check_setting", {"op": 24, "setting": "act_block_h_override", "value": 64}))  # fmt: skip
def _(answer: Answer) -> None:
    row = demo_lines()[24]
    assert f"act_block_h_ntiles={answer['now'] // 32};" in row["ATTRIBUTES"]
    assert (answer["legal"], answer["fits"], answer["now_us"]) == (True, True, near(int(row[KERNEL]) / 1e3))
    assert answer["limit_bytes"] == demo_limit()
    assert answer["l1_bytes"] == sum(answer["buffers"].values())
    assert answer["expected"]


@question("Where is the L1 peak of the demo, how much is left there, and what can be freed?", "demo",
          ("memory_summary", {}))  # fmt: skip
def _(answer: Answer) -> None:
    peak, figures = answer["l1_peak"], json.loads(FIGURES.read_text("utf-8"))
    assert peak["bytes_per_bank"] == figures["l1_peak_bytes_per_core"]
    assert peak["headroom_at_most_bytes"] == peak["capacity_bytes"] - peak["bytes_per_bank"]
    assert answer["fragmentation"]["largest_free_bytes"] <= peak["headroom_at_most_bytes"]
    assert [one["tensor"] for one in rows(answer["late_frees"])] == [67, 140]


def peak_is_ttnn_s(answer: Answer, name: str) -> None:
    """Operation, device op, line of the model, and parts of the peak."""
    peak, truth = answer["l1_peak"], truth_of(name)["l1_peak"]
    told = (peak["operation"], peak["name"], peak["device_op"], peak["bytes_per_bank"])
    assert told == (truth["operation"], truth["name"], truth["device_operation"], truth["bytes_per_bank"])
    assert (peak["tensors_bytes"], peak["circular_buffers_bytes"]) == (truth["tensors"], truth["circular"])
    ((stack,),) = sql(name, f"SELECT stack_trace FROM stack_traces WHERE operation_id = {peak['operation']}")
    file, line = peak["line"].split(":")
    assert f'{file}", line {line}' in stack


@question(
    "Where is the L1 peak of a mesh, on one chip, and what is live there?", "mesh_tp2", ("memory_summary", {})
)
def _(answer: Answer) -> None:
    peak_is_ttnn_s(answer, "mesh_tp2")
    assert sum(one["bytes_per_bank"] for one in rows(answer["live"])) == answer["l1_peak"]["tensors_bytes"]


@question("What fills L1 where the report holds next to nothing, and what does DRAM hold?", "bert_dram",
          ("memory_summary", {}))  # fmt: skip
def _(answer: Answer) -> None:
    peak_is_ttnn_s(answer, "bert_dram")
    dram = answer["dram"]
    assert dram["bytes_per_bank"] == truth_of("bert_dram")["dram_peak_bytes_per_bank"]
    at = f"buffer_type = 0 AND operation_id = {dram['operation']}"
    ((held,),) = sql("bert_dram", f"SELECT sum(max_size_per_bank) FROM buffers WHERE {at}")
    assert dram["freed_inside_bytes_per_bank"] == dram["bytes_per_bank"] - held
    ((large,),) = sql("bert_dram", "SELECT max(max_size_per_bank) FROM buffers WHERE buffer_type = 0")
    assert rows(dram["holders"])[0]["bytes_per_bank"] == large


@question(
    "Which line of the model takes most of the time?", "demo", ("list_ops", {"group_by": "source_line", **OPS})
)
def _(answer: Answer) -> None:
    (first,) = rows(answer["groups"])
    assert "/model.py:" in first["key"]
    warm = sum(int(row[KERNEL]) for line, row in demo_lines().items() if line >= DEMO_WARM) / 1e3
    assert answer["total"]["kernel_us"] == near(warm)
    assert first["share"] == pytest.approx(first["kernel_us"] / warm, abs=1e-4)
    assert first["heaviest_us"] == near(int(demo_lines()[first["heaviest_op"]][KERNEL]) / 1e3)


@question("What is freed too late, at which lines?", "late_frees", ("memory_summary", {}))
def _(answer: Answer) -> None:
    late = rows(answer["late_frees"])
    assert len(late) == 7
    assert {one["bytes_per_bank"] for one in late} == {32_768}
    assert all(one["operations_run_since"] >= 2 and one["line"].startswith("late_frees.py:") for one in late)


@question(
    "Why did it run out of memory, who held it, and what would have helped?",
    "out_of_l1",
    ("memory_summary", {}),
)
def _(answer: Answer) -> None:
    ((message,),) = sql("out_of_l1", "SELECT error_message FROM errors")
    (error,) = answer["errors"]
    assert f"store {error['asked_bytes']} B" in message
    assert f"free: {error['free_bytes']} B, largest free block: {error['largest_free_bytes']} B" in message
    held = sum(one["bytes_per_bank"] for one in rows(error["holders"]))
    assert f"(allocated: {held} B" in message
    assert rows(error["remedies"])[0]["enough"] is True


@question(
    "Why were the circular buffers refused, and what helps?", "cb_clash", ("memory_summary", {"operation": 6})
)
def _(answer: Answer) -> None:
    (error,) = answer["errors"]
    assert (error["operation"], error["ran_out_of"]) == (6, "L1 for circular buffers alone")
    assert error["short_bytes"] == 2_334_048 - 1_499_136
    assert [one["remedy"] for one in rows(error["remedies"])] == ["smaller_blocks"]


@question("In which operation did the run die, and why?", "aborted", ("open_run", {}))
def _(answer: Answer) -> None:
    ((operation, name),) = sql("aborted", "SELECT operation_id, operation_name FROM errors")
    assert answer["caveats"] == [f"the run died in operation {operation} {name}: Invalid arguments to reshape"]


@question("Which buffers does the fullest convolution have, and on which cores?", "mobilenet",
          ("memory_summary", {"operation": 45}))  # fmt: skip
def _(answer: Answer) -> None:
    peak_is_ttnn_s(answer, "mobilenet")
    circular = truth_of("mobilenet")["l1_peak"]["circular"]
    assert sum(one["bytes"] for one in rows(answer["circular_buffers"])) == circular
    assert rows(answer["cores"])[0]["circular_buffers_bytes"] == circular


@question("May the convolution read its weights twice as often, and does that fit?", "demo",
          ("check_setting", {"op": 24, "setting": "enable_weights_double_buffer", "value": True}))  # fmt: skip
def _(answer: Answer) -> None:
    assert "'enable_weights_double_buffer': 'false'" in demo_lines()[24]["ATTRIBUTES"]
    assert (answer["legal"], answer["now"], answer["limit_bytes"]) == (True, False, demo_limit())
    assert answer["fits"] is (sum(answer["buffers"].values()) <= demo_limit())


@question("Where does the model wait longest for the host?", SEGFORMER, ("list_ops", {"sort": "gap", **OPS}))
def _(answer: Answer) -> None:
    gaps = {line: float(row[GAP] or 0) for line, row in lines(SEGFORMER).items()}
    (first,) = rows(answer["ops"])
    assert first["op"] == max(gaps, key=lambda line: gaps[line])
    assert first["gap_us"] == near(gaps[first["op"]] / 1e3)


@question("Which ops are limited by DRAM, and how much time is that?", CLIP,
          ("list_ops", {"bound": "dram", "group_by": "op_code", **OPS}))  # fmt: skip
def _(answer: Answer) -> None:
    first = rows(answer["groups"])[0]
    warm = [row for line, row in lines(CLIP).items() if line >= WARM and row["OP CODE"] == first["key"]]
    limited = [row for row in warm if dram_us(row, WORMHOLE) > engine_us(row, WORMHOLE)]
    assert (first["key"], first["count"]) == ("MinimalMatmulOp", len(limited))
    assert first["kernel_us"] == near(sum(int(row[KERNEL]) for row in limited) / 1e3)


_answered: dict[str, tuple[list[Answer], int]] = {}


async def answered(asked: Question, folder: Path) -> tuple[list[Answer], int]:
    """The answers, and their bytes as JSON without the folders' names, which differ by machine; asked once."""
    if asked.words not in _answered:
        at, run = session(folder), path_of(asked.report, folder)
        answers: list[Answer] = []
        for tool, arguments in asked.calls:
            where = {"open_run": "memory" if "csv" not in run else "performance", "compare_runs": "baseline"}
            given = {} if tool == "skill_step" else {where.get(tool, "run"): run}
            others = {key: path_of(str(value), folder) for key, value in arguments.items() if key == "candidate"}
            answers.append(await ask(at, tool, **{**given, **arguments, **others}))
        text = "".join(json.dumps(one, separators=(",", ":")) for one in answers)
        size = len(text.replace(str(folder), "").replace(str(SHARED), ""))
        _answered[asked.words] = answers, size
    return _answered[asked.words]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.words)
async def test_a_question_is_answered_by_its_calls(tmp_path, asked):
    answers, _ = await answered(asked, tmp_path)
    asked.right(*answers)
    assert [*flaws(answers)] == []


async def test_the_bank_is_cheap(tmp_path):
    calls = [len(asked.calls) for asked in QUESTIONS]
    assert len(QUESTIONS) == 30
    assert median(calls) == 1
    assert max(calls) <= CALLS_AT_MOST
    sizes = {asked.words: (await answered(asked, tmp_path))[1] for asked in QUESTIONS}
    assert sum(sizes.values()) <= BYTES_AT_MOST, sorted(sizes.items(), key=lambda one: -one[1])
