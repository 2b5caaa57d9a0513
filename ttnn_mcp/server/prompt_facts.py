"""Facts about a run for the `optimize_model` prompt: what is known before the loop begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.quoting import quoted
from ttnn_mcp.report.markup import tried_words

if TYPE_CHECKING:
    Ask = Callable[[str, Mapping[str, object]], Awaitable[dict[str, Any]]]

MOST = 3  # each of caveats, findings and past changes: the tools tell the rest


async def known_facts(ask: Ask, run: str | None) -> str:
    """The facts as a short list, from answers of our tools; or the reason why the run cannot be read yet."""
    from ttnn_mcp.tools.answering import records  # noqa: PLC0415 - tools load with the first question

    try:
        card = await ask("open_run", {"run": run} if run else {})
        check = await ask("optimization_check", {"run": card["id"]})
        loop = await ask("experiments", {"action": "list"})
    except TtnnMcpError as refusal:
        return f"The run could not be read yet: {refusal}\n"
    if "predicted" in check:
        return f"Known already of run `{card['id']}`: {check['predicted']['why']}. It has no device times yet.\n"
    total = check["total"]
    saved = total["before_us"] - total["after_us"]
    lines = [
        "Known already (measured, this run):",
        f"* run `{card['id']}` on {card['arch']}, {card['worker_cores'] or 'unknown'} cores",
        f"* {check['kernel_ms']} ms of kernels in a {_described(check['window'])}",
        *(f"* caveat: {caveat}" for caveat in card["caveats"][:MOST]),
        *(_edit(edit) for edit in records(check["plan"])[:MOST]),
        f"* the whole plan saves at most {saved:.0f} of {total['before_us']:.0f} us ({total['of']})",
        *(f"* tried before: {quoted(row['change'])} -> {row['verdict']}" for row in records(loop["log"])[-MOST:]),
    ]
    return "\n".join(lines) + "\n"


def _described(window: Mapping[str, Any]) -> str:
    return f"{'warm' if window['warm'] else 'COLD'} window of {window['rows']} ops"


def _edit(edit: Mapping[str, Any]) -> str:
    expected = f"{edit['expected_us']} us expected"
    if edit["expected_us"] is None:
        words = tried_words(edit["basis"], edit.get("if_gains_us"), lambda us: f"{us} us")
        expected = f"a trial ({words})" if words else "a trial"
    saves = f"{expected}, at most {edit['alone_us']} us alone"
    return f"* edit `{edit['edit']}`: {edit['what']}, {quoted(edit['where'])}; {saves}"
