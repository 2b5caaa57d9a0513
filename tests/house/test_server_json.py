"""server.json is accepted by the MCP registry: the rules of its schema of 2025-12-11, and what our command really takes."""

import copy
import json
import re

import pytest
from jsonschema import Draft7Validator, ValidationError

from tests.for_all import for_all
from tests.house.tree import ROOT
from ttnn_mcp.session.settings import ARCHIVE_MB, ARCHIVE_VARIABLE, CACHE_MB
from ttnn_mcp.shell.command_line import command_line

PUBLISHED = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
TEXT = {"type": "string", "minLength": 1}
RANGE = re.compile(r"^(latest|[\^~<>=].*|.*[x*])$")  # refused as a version by the registry


def closed(required, **properties):
    """An object of these fields alone: the registry ignores others, so a misspelt one would say nothing."""
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


INPUT = {
    "description": TEXT,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "default": TEXT,
    "placeholder": TEXT,
    "value": TEXT,
    "choices": {"type": "array", "items": TEXT},
    "isRequired": {"type": "boolean"},
    "isSecret": {"type": "boolean"},
}
ARGUMENT = closed(
    ["type", "name"], type={"const": "named"}, name={"pattern": "^--"}, isRepeated={"type": "boolean"}, **INPUT
)
PACKAGE = closed(
    ["registryType", "identifier", "transport", "version"],
    registryType={"const": "pypi"},
    registryBaseUrl={"const": "https://pypi.org"},
    identifier=TEXT,
    version=TEXT,
    runtimeHint=TEXT,
    transport=closed(["type"], type={"const": "stdio"}),
    packageArguments={"type": "array", "items": ARGUMENT},
    environmentVariables={"type": "array", "items": closed(["name"], name=TEXT, **INPUT)},
)
SERVER = closed(
    ["$schema", "name", "description", "version", "packages"],
    **{
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {
            "type": "string",
            "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
            "minLength": 3,
            "maxLength": 200,
        },
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {**TEXT, "maxLength": 255},
        "repository": closed(["url", "source"], url={"type": "string", "pattern": "^https://"}, source=TEXT),
        "packages": {"type": "array", "minItems": 1, "items": PACKAGE},
    },
)


def refuse(published):
    Draft7Validator(SERVER).validate(published)
    for version in (published["version"], *(package["version"] for package in published["packages"])):
        assert not RANGE.match(version), version


def test_it_keeps_the_rules_of_the_registry():
    Draft7Validator.check_schema(SERVER)
    refuse(PUBLISHED)


@for_all(
    "spoil",
    [
        lambda published: published.update(name="two/many/slashes"),
        lambda published: published.update(description="x" * 101),
        lambda published: published.update(version="^0.1"),
        lambda published: published.update(repositry={}),
        lambda published: published.update(repository={"url": "https://example.com/it"}),
        lambda published: published.pop("description"),
        lambda published: published["packages"][0].update(version="latest"),
        lambda published: published["packages"][0].pop("transport"),
        lambda published: published["packages"][0]["packageArguments"][0].update(format="path"),
        lambda published: published["packages"][0]["packageArguments"][0].pop("name"),
        lambda published: published["packages"][0]["environmentVariables"][0].update(default=500),
    ],
)
def test_what_the_registry_refuses_is_refused_here(spoil):
    spoiled = copy.deepcopy(PUBLISHED)
    spoil(spoiled)
    with pytest.raises((ValidationError, AssertionError)):
        refuse(spoiled)


def test_the_command_takes_every_argument_with_its_default():
    [package] = PUBLISHED["packages"]
    for argument in package["packageArguments"]:
        value = argument.get("default", "/some/place")
        taken = command_line().parse_args([f"{argument['name']}={value}"])
        assert value in str(vars(taken).values()), argument
        if argument["name"] == "--cache-mb":
            assert int(value) == CACHE_MB


def test_the_variables_are_those_that_we_read():
    [package] = PUBLISHED["packages"]
    defaults = {each["name"]: each.get("default") for each in package["environmentVariables"]}
    assert defaults == {"TT_METAL_HOME": None, ARCHIVE_VARIABLE: str(ARCHIVE_MB)}


def test_without_a_public_address_the_pages_say_so():
    if "repository" not in PUBLISHED:
        assert "no public address" in (ROOT / "resources" / "install.md").read_text(encoding="utf-8")
