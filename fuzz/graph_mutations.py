"""Captured graphs (JSON arrays of nodes), and what can happen to one."""

from __future__ import annotations

import json

from fuzz import values

KINDS = (
    "capture_start", "capture_end", "function_start", "function_end", "buffer", "buffer_allocate", "buffer_deallocate",
    "circular_buffer_allocate", "circular_buffer_deallocate_all", "tensor", "nosuch", "", 5, None,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31, 2**53 + 1, 2**63, 10**40, 1.5, 1e308, True, None, "7", "-1", "", [], {}, "9" * 400)


def mutate(rng, text):
    """The graph with one to five things changed; sometimes it is JSON no more."""
    if rng.random() < 0.15:
        return values.damaged(rng, text)
    try:
        nodes = json.loads(text)
    except (ValueError, RecursionError):
        return values.odd(rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not isinstance(nodes, list) or not nodes:
            break
        changed = rng.choice(_CHANGES)(rng, nodes)
        nodes = nodes if changed is None else changed
    try:
        return json.dumps(nodes, ensure_ascii=rng.random() < 0.5)
    except (ValueError, RecursionError):
        return "[]"


def _field(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict):
        name = rng.choice([*node, "connections", "counter", "node_type", "params", "stacking_level", "arguments"])
        node[name] = rng.choice((rng.choice(NUMBERS), values.odd(rng), rng.choice(KINDS), [node.get(name)] * 3))


def _parameter(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict) and isinstance(node.get("params"), dict) and node["params"]:
        name = rng.choice(list(node["params"]))
        old = node["params"][name]
        damaged = values.damaged(rng, old) if isinstance(old, str) else rng.choice(NUMBERS)
        node["params"][name] = rng.choice(
            (damaged, damaged, rng.choice(NUMBERS), str(rng.choice(NUMBERS)), values.odd(rng))
        )


def _lose_parameter(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict) and isinstance(node.get("params"), dict) and node["params"]:
        del node["params"][rng.choice(list(node["params"]))]


def _lose_field(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict) and node:
        del node[rng.choice(list(node))]


def _connections(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict):
        own = node.get("counter", 0)
        node["connections"] = rng.choice(
            ([own], [0], [len(nodes)], [-1], list(range(len(nodes))), [own, own], ["1"], [[1]], None)
        )


def _kind(rng, nodes):
    node = rng.choice(nodes)
    if isinstance(node, dict):
        node["node_type"] = rng.choice(KINDS)


def _drop(rng, nodes):
    for _ in range(rng.choice((1, 2, len(nodes) // 2))):
        if nodes:
            nodes.pop(rng.randrange(len(nodes)))


def _double(rng, nodes):
    at = rng.randrange(len(nodes))
    nodes[at:at] = [nodes[at]] * rng.choice((1, 2, 60))


def _shuffle(rng, nodes):
    rng.shuffle(nodes)


def _cut(rng, nodes):
    del nodes[rng.randrange(len(nodes)) :]


def _unmatched(rng, nodes):
    """Scopes that begin and never end."""
    begun = {"node_type": "function_start", "params": {"name": "ttnn::x", "inputs": "1"}, "connections": []}
    nodes[1:1] = [{**begun, "counter": number} for number in range(rng.choice((1, 5, 300)))]


def _not_nodes(rng, nodes):
    nodes.insert(rng.randrange(len(nodes) + 1), rng.choice((None, 1, "x", [], [[]], {}, True)))


def _other_whole(rng, nodes):
    deep = nodes
    for _ in range(rng.choice((1, 50, 900))):
        deep = [deep]
    return rng.choice(
        ({"content": nodes}, {}, "x", 5, None, deep, {str(at): node for at, node in enumerate(nodes)})
    )


_CHANGES = (
    *[_field] * 5, *[_parameter] * 8, *[_lose_parameter] * 3, *[_lose_field] * 2, *[_connections] * 3, *[_kind] * 2, *[_drop] * 3,
    _double, _shuffle, _cut, _unmatched, _not_nodes, _other_whole,
)  # fmt: skip
