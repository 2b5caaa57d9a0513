"""Agents from npm: how each is set up in a fresh home, started without a person, and how it shows an answer.

The block with our server is the one of resources/install.md, to the letter.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clients.installed import ROOT, package

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = ROOT / "resources" / "install.md"
OURS = Path(sys.executable).with_name("ttnn-mcp")
OFFLINE = {  # whatever else they would like to reach, they do not
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}


@dataclass(frozen=True)
class Agent:
    """One agent.

    Attributes:
        name: of its package in `installed.PINS`.
        set_up: writes its settings into a home, for a model at an address: the command that asks it one question, and
            the environment for that.
        prefix: what it puts before the name of a tool.
        shows: the text its model is shown of an answer of ours.
        shows_refusal: the same of a refusal.
    """

    name: str
    set_up: Callable[[Path, str], tuple[list[str], dict[str, str]]]
    prefix: str
    shows: Callable[[str], str] = str
    shows_refusal: Callable[[str], str] = str


def block(heading: str, roots: Path) -> str:
    """The first block of settings below this heading of install.md, filled in."""
    section = INSTALL.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (text, *_) = re.findall(r"```(?:json|toml|yaml)\n(.*?)```", section, re.DOTALL)
    return text.replace("COMMAND", str(OURS)).replace("/path/to/tt-metal/generated", str(roots))


def program(name: str, file: str) -> list[str]:
    return [str(package(name) / "node_modules" / ".bin" / file)]  # a script for the node on PATH, or a binary


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _codex(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    provider = (
        'model = "scripted"\nmodel_provider = "scripted"\n'
        "tool_output_token_limit = 10000\n\n"  # as install.md says, for the longest page
        '[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{model}/v1"\nwire_api = "responses"\n\n'
    )
    _written(home / ".codex" / "config.toml", provider + block("Codex", home))
    words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"]
    return [*program("codex", "codex"), *words], OFFLINE


def _gemini(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    settings = json.loads(block("Claude Desktop", home))
    settings |= {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _written(home / ".gemini" / "settings.json", json.dumps(settings))
    words = ["--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--prompt", "go"]
    return [*program("gemini", "gemini"), *words], {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": model,
    }


def _opencode(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"scripted": {}},
    }
    settings = json.loads(block("opencode", home)) | {"provider": {"scripted": provider}}
    _written(home / "opencode.json", json.dumps(settings))
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    words = [*program("opencode", "opencode"), "run", "--model", "scripted/scripted", "go"]
    return words, {**OFFLINE, **{f"OPENCODE_DISABLE_{each}": "1" for each in quiet}}


def _continue(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    models = (
        "name: ours\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: scripted\n    provider: openai\n"
        f"    model: scripted\n    apiBase: {model}/v1\n    apiKey: none\n"
    )
    settings = _written(home / "config.yaml", models + block("Continue", home))
    return [*program("continue", "cn"), "--config", str(settings), "--auto", "-p", "go"], {
        **OFFLINE,
        "CONTINUE_CLI_ENABLE_TELEMETRY": "0",
    }


def _cline(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    settings = home / ".cline" / "data" / "settings"
    _written(settings / "cline_mcp_settings.json", block("Claude Desktop", home))
    provider = {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": f"{model}/v1"}
    known = {"openai-compatible": {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z"}}
    providers = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": known}
    _written(settings / "providers.json", json.dumps(providers))
    return [*program("cline", "cline"), "go on"], {
        **OFFLINE,
        "CLINE_SESSION_BACKEND_MODE": "local",
        "CLINE_MESSAGE_BUILDER_MAX_TOOL_RESULT_CHARS": "20000",  # as install.md says, for the longest pages
    }


def _in_json(start: str, end: str) -> Callable[[str], str]:
    """As JSON.stringify writes a text between these."""
    return lambda text: start + json.dumps(text, ensure_ascii=False) + end


def _refused_by_gemini(text: str) -> str:
    asked = '{"name":"open_run","args":{"run":"dmo"}}'
    answer = f'{{"content":[{{"type":"text","text":{json.dumps(text)}}}],"isError":true}}'
    response = f'[{{"functionResponse":{{"name":"open_run","response":{answer}}}}}]'
    return f"MCP tool 'open_run' reported tool error for function call: {asked} with response: {response}"


_continued = _in_json('[{"type":"text","text":', "}]")
AGENTS = (
    Agent("codex", _codex, "mcp__ttnn/"),
    Agent(
        "gemini",
        _gemini,
        "mcp_ttnn_",
        lambda text: f"<untrusted_context>\n{text}\n</untrusted_context>",
        _refused_by_gemini,
    ),
    Agent("opencode", _opencode, "ttnn_"),
    Agent("continue", _continue, "", _continued, _continued),
    Agent(
        "cline",
        _cline,
        "ttnn__",
        _in_json('{"content":[{"text":', ',"type":"text"}],"isError":false}'),
        _in_json('{"content":[{"text":', ',"type":"text"}],"isError":true}'),
    ),
)
