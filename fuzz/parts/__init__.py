"""The parts of the fuzz, each with `run(sitting)`."""

from fuzz.parts import (
    arguments,
    clients,
    copies,
    files,
    http_paths,
    imports,
    kills,
    lies,
    names,
    planted,
    soak,
    statements,
)

PARTS = {
    "files": files.run,
    "arguments": arguments.run,
    "sql": statements.run,
    "imports": imports.run,
    "http": http_paths.run,
    "store": kills.run,
    "copies": copies.run,
    "lies": lies.run,
    "planted": planted.run,
    "clients": clients.run,
    "names": names.run,
    "soak": soak.run,
}
SHARES = {
    "files": 0.34,
    "arguments": 0.13,
    "sql": 0.12,
    "imports": 0.08,
    "http": 0.1,
    "store": 0.06,
    "copies": 0.03,
    "lies": 0.03,
    "planted": 0.03,
    "clients": 0.015,
    "names": 0.005,
    "soak": 0.06,
}
