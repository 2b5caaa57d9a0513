"""What is asked of one file: every tool, with arguments that fit small reports and some that do not."""

from __future__ import annotations

SETTINGS = (
    ("act_block_h_override", (0, 32, 64, 96, 512, -32)),
    ("enable_act_double_buffer", (True, False)),
    ("enable_weights_double_buffer", (True,)),
    ("shard_layout", ("HEIGHT_SHARDED", "BLOCK_SHARDED", "WIDTH_SHARDED", "x")),
    ("weights_dtype", ("bfloat8_b", "bfloat4_b", "float32")),
    ("math_fidelity", ("LoFi", "HiFi2", "HiFi4")),
    ("in0_block_w", (1, 2, 4, 16, 0, 10**9)),
    ("per_core_M", (1, 2, 8, 0)),
    ("per_core_N", (1, 2, 8)),
    ("out_subblock_h", (1, 2, 3, 0)),
    ("out_subblock_w", (1, 4, 5)),
    ("core_grid", ("8x7", "1x1", "99x99", "0x0")),
    ("q_chunk_size", (32, 128, 0)),
    ("k_chunk_size", (32, 512)),
)
WINDOWS = ({}, {}, {"iteration": "all"}, {"iteration": 1}, {"iteration": 2}, {"iteration": 99}, {"start_signpost": "start"},
           {"start_signpost": "start", "end_signpost": "stop"}, {"end_signpost": "stop"})  # fmt: skip
GROUPS = ("none", "op_code", "signature", "category", "source_line")
SELECTS = (
    "SELECT * FROM ops",
    "SELECT op_code, count(*), sum(kernel_ns), max(gap_ns) FROM ops GROUP BY op_code",
    "SELECT * FROM tensors",
    "SELECT * FROM operations",
    "SELECT name, value FROM operation_arguments",
    "SELECT * FROM buffers LIMIT 5",
    "SELECT substr(captured_graph, 1, 300) FROM captured_graph",
    "SELECT * FROM errors",
    "SELECT * FROM signposts",
)
PLACE = "{folder}"  # stands for the folder of the case until it is written
BASE = "{base}"  # and for the folder of the report that it is compared with


def of_performance(rng, *, lines, based=False):
    """Calls about a CSV; `lines` are lines of ops in it, `based` says whether an unmutated report lies beside it."""
    run = {"run": PLACE}
    window = rng.choice(WINDOWS)
    yield "open_run", {"performance": PLACE}
    yield "optimization_check", run
    yield "host_overhead", run
    if window:
        yield "optimization_check", {**run, **window}
    if rng.random() < 0.3:
        yield "optimization_check", {**run, "steps": [rng.randrange(1, 8)], "min_saving_share": 0}
    yield (
        "list_ops",
        {
            **run,
            **rng.choice(WINDOWS),
            "group_by": rng.choice(GROUPS),
            "sort": rng.choice(("kernel", "gap", "order")),
        },
    )
    yield (
        "list_ops",
        {**run, "limit": rng.choice((1, 200)), "device": rng.choice((0, 0, 1, 7))} if rng.random() < 0.5 else run,
    )
    for line in [rng.choice(lines) for _ in range(4)] if lines else [2]:
        yield "op_detail", {**run, "op": line}
        yield "replay_op", {**run, "op": line, "limit": 2}
    yield "sharding_summary", {**run, **window}
    yield "reshard_detect", {**run, **rng.choice(WINDOWS)}
    yield "host_overhead", {**run, **window, "wall_ms": rng.choice((0.001, 1, 1e6))}
    yield "optimization_check", {**run, **window, "wall_ms": rng.choice((0.001, 1, 1e6))}
    yield "tensor_formats", {**run, **rng.choice(WINDOWS)}
    yield "device_balance", {**run, **window}
    yield "time_budget", {**run, **rng.choice(WINDOWS)}
    yield "model_stages", {**run, **rng.choice(WINDOWS)}
    for _ in range(3):
        name, chosen = rng.choice(SETTINGS)
        yield "check_setting", {**run, "op": rng.choice(lines or [2]), "setting": name, "value": rng.choice(chosen)}
    yield "query_run", {**run, "sql": rng.choice(SELECTS[:2])}
    yield "list_runs", {}
    yield from _compared(rng, based=based)


def _compared(rng, *, based):
    group = rng.choice(("op_code", "category", "layer"))
    yield "compare_runs", {"baseline": PLACE, "candidate": PLACE, "group_by": group}
    if based and rng.random() < 0.4:
        yield "compare_runs", {"baseline": BASE, "candidate": PLACE, "group_by": group}
        yield "compare_runs", {"baseline": PLACE, "candidate": BASE, "repeats": [PLACE]}
    if based and rng.random() < 0.15:
        loop = {"baseline": BASE, "candidate": PLACE}
        yield (
            "experiments",
            {"action": "record", "change": "x", "pcc": 0.999, **rng.choice((loop, {**loop, "baseline": PLACE}))},
        )
        yield (
            "experiments",
            {"action": "target", "target": rng.choice(("10 ms", "100 samples/s", "60 % of roofline"))},
        )
        yield "experiments", {"action": "list"}


def of_memory(rng, *, operations):
    """Calls about a database; `operations` are ids in it."""
    run = {"run": PLACE}
    yield "open_run", {"memory": PLACE, **({"rank": rng.choice((0, 1, 5))} if rng.random() < 0.2 else {})}
    yield "memory_summary", run
    for operation in [rng.choice(operations) for _ in range(5)] if operations else [1]:
        yield "memory_summary", {**run, "operation": operation}
    for operation in [rng.choice(operations) for _ in range(3)] if operations else [1]:
        yield "op_detail", {**run, "op": operation}
    yield "list_ops", {**run, "limit": rng.choice((1, 20, 200))}
    yield "sharding_summary", run
    yield "reshard_detect", {**run, "limit": rng.choice((1, 200))}
    for sql in rng.sample(SELECTS, 3):
        yield "query_run", {**run, "sql": sql}
    yield "list_runs", {}
    name, chosen = rng.choice(SETTINGS)
    yield rng.choice((("optimization_check", run), ("tensor_formats", run), ("device_balance", run), ("host_overhead", run),
                      ("check_setting", {**run, "op": 3, "setting": name, "value": chosen[0]}),
                      ("compare_runs", {"baseline": PLACE, "candidate": PLACE})))  # fmt: skip


def of_pair(rng, *, lines, operations):
    """Calls about both reports of one run."""
    yield "open_run", {"performance": PLACE, "memory": PLACE}
    yield from of_performance(rng, lines=lines)
    yield from (
        call
        for call in of_memory(rng, operations=operations)
        if call[0] in ("memory_summary", "query_run", "op_detail")
    )
