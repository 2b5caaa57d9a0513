"""The commands for people: ask, look at the demo, profile, capture, read the skill, complete words."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.terminal import awaited, coloured, show, width

PAGE = re.compile(r"ttnn://([\w-]+)")  # a client's name of it; at a shell it is a file


def answered(options: argparse.Namespace, words: Sequence[str], session: Session) -> int:
    """Run one of these commands; its exit status."""
    match options.command:
        case "profile":
            return _profile(options, session)
        case "capture":
            return _capture(options, session)
        case "accuracy":
            from ttnn_mcp.shell import accuracy_command  # noqa: PLC0415

            asked = accuracy_command.script(session, options.of_run, options.worst)
            print(awaited(asked, "accuracy"), end="")
        case "skill":
            from ttnn_mcp.served.documents import skill_page  # noqa: PLC0415

            print(skill_page(options.page))
        case "completion":
            from ttnn_mcp.shell.completion import script  # noqa: PLC0415

            print(script(options.shell))
        case "demo":
            _demo(session)
        case _:
            _ask(options, words, session)
    return 0


def _ask(options: argparse.Namespace, words: Sequence[str], session: Session) -> None:
    from ttnn_mcp.shell import asking  # noqa: PLC0415 - the tools load with the first question

    def tell(sentence: str) -> None:
        print(sentence, file=sys.stderr)

    if options.explain:
        print(explained(options.explain))
        return
    if getattr(options, "format", None):
        from ttnn_mcp.shell.perf_report.command import perf_report  # noqa: PLC0415

        print(awaited(perf_report(session, words, tell), options.command), end="")
        return
    asked = awaited(asking.asked(session, options, words, tell), options.command)
    text = asking.worded_for(options, asked, words)
    print(text, end="") if options.json or options.markdown else show(text)


def explained(word: str) -> str:
    """`--explain WORD`: the terms that are this word, else those in which it occurs, each with its meaning.

    Raises:
        ArgumentsInvalid: there is none; names the nearest.
    """
    from ttnn_mcp.served.documents import meanings, same_terms  # noqa: PLC0415

    asked = " ".join(word.replace("_", " ").lower().split())
    terms = meanings()
    same = same_terms("generation" if re.fullmatch(r"[cg]\d{1,2}", asked) else asked, terms)
    alike = same or [term for term in terms if asked and asked in term.lower()]
    if not alike:
        raise ArgumentsInvalid(f"The glossary has no '{shown(word)}'.{nearest(word, terms)}")
    at_a_shell = {term: PAGE.sub(r"resources/\1.md", terms[term]) for term in alike}
    return "\n".join(f"{term}: {meaning}" for term, meaning in at_a_shell.items())


def _demo(session: Session) -> None:
    from ttnn_mcp.shell import asking, check_screen  # noqa: PLC0415

    answer = awaited(asking.all_findings(session, {"run": "demo"}), "demo")
    print(check_screen.check_screen(answer, run="demo", colour=coloured(sys.stdout), width=width()), end="")


def _profile(options: argparse.Namespace, session: Session) -> int:
    from ttnn_mcp.shell.capture.profiled import Capture  # noqa: PLC0415

    capture = Capture(options.behind, options.tracy, options.with_memory, _tell)
    capture.run()
    if capture.performance is not None:
        from ttnn_mcp.shell.capture import outcome  # noqa: PLC0415 - the tools load where there is a report

        print(awaited(outcome.findings_of(session, capture), "check"), end="")
    return capture.status


def _capture(options: argparse.Namespace, session: Session) -> int:
    from ttnn_mcp.shell.capture.mock_run import MockCapture  # noqa: PLC0415

    settings = session.settings
    python = None if settings.ttnn is None else str(settings.ttnn)
    asked = (options.behind, options.arch, python, options.minutes, options.memory_gb, settings.state_folder)
    capture = MockCapture(*asked, tell=_tell)
    capture.run()
    if capture.report is not None:
        from ttnn_mcp.shell.capture import outcome  # noqa: PLC0415 - the tools load where there is a report

        text = outcome.answers_of(session, capture, as_json=options.json)
        print(awaited(text, "memory_summary"), end="")
    return capture.status


def _tell(sentence: str) -> None:
    print(f"ttnn-mcp: {sentence}", file=sys.stderr, flush=True)
