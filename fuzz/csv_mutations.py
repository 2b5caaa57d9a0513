"""What can happen to a performance CSV: cells, headers, rows, quoting, line ends, bytes."""

from __future__ import annotations

import csv

from fuzz import values

MOST_ROWS = 400  # a mutant stays small, so that many are asked


def mutate(rng, table):
    """Up to five mutations of a copy, written; and their names."""
    table = table.copy()
    for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 5))):
        if not table.names or not table.rows:
            break
        mutation = rng.choice(_WEIGHTED)
        mutation(rng, table)
        table.written.append(mutation.__name__.strip("_"))
    content = table.write()
    if rng.random() < 0.12:
        mutation = rng.choice(_OF_BYTES)
        content = mutation(rng, content)
        table.written.append(mutation.__name__.strip("_"))
    return content, table.written


def _cell(rng, table):
    row, at = rng.choice(table.rows), table.column(rng)
    if at < len(row):
        row[at] = values.odd(rng)


def _damage(rng, table):
    row = rng.choice(table.rows)
    filled = [at for at, cell in enumerate(row) if cell]
    if filled:
        at = rng.choice(filled)
        row[at] = values.damaged(rng, row[at])


def _swap_cells(rng, table):
    """A cell of the same column, or of another one."""
    row, other, at = rng.choice(table.rows), rng.choice(table.rows), table.column(rng)
    source = at if rng.random() < 0.6 else table.column(rng)
    if at < len(row) and source < len(other):
        row[at] = other[source]


def _whole_column(rng, table):
    at, cell = table.column(rng), values.odd(rng)
    for row in table.rows:
        if at < len(row):
            row[at] = cell


def _some_of_a_column(rng, table):
    at, cell = table.column(rng), values.odd(rng)
    for row in table.rows:
        if at < len(row) and rng.random() < 0.4:
            row[at] = cell


def _shuffled_column(rng, table):
    at = table.column(rng)
    cells = [row[at] for row in table.rows if at < len(row)]
    rng.shuffle(cells)
    for row in table.rows:
        if at < len(row):
            row[at] = cells.pop()


def _scaled_column(rng, table):
    at, factor = table.column(rng), rng.choice((0, -1, 2, 1e-9, 1e6, 1e18))
    for row in table.rows:
        if at < len(row) and row[at].isdigit():
            row[at] = str(int(int(row[at]) * factor))


def _drop_column(rng, table):
    for at in sorted(
        rng.sample(range(len(table.names)), rng.choice((1, 1, 2, min(9, len(table.names))))), reverse=True
    ):
        del table.names[at]
        for row in table.rows:
            if at < len(row):
                del row[at]


def _rename(rng, table):
    at = table.column(rng)
    old = table.names[at]
    table.names[at] = rng.choice(
        (values.odd(rng), old.lower(), f" {old} ", old.replace(" ", "_"), f"{old}.1", f"{old}2")
    )


def _double_header(rng, table):
    at = table.column(rng)
    table.names.append(table.names[at])
    for row in table.rows:
        row.append(row[at] if at < len(row) and rng.random() < 0.5 else values.odd(rng))


def _header_of_another(rng, table):
    table.names[table.column(rng)] = table.names[table.column(rng)]


def _old_and_new_name(rng, table):
    """Both names that one thing had in its time."""
    pair = rng.choice(
        (
            ("METAL TRACE ID", "TRACE ID"), ("INPUT_0_W", "INPUT_0_W_PAD[LOGICAL]"), ("OUTPUT_0_X_PAD[LOGICAL]", "OUTPUT_0_X"),
            ("TENSIX DM 0 MAX KERNEL SIZE [B]", "BRISC MAX KERNEL SIZE [B]"), ("LOC", "CONST_EVAL_OP"),
        )
    )  # fmt: skip
    for name in pair:
        if name not in table.names:
            table.names.append(name)
            for row in table.rows:
                row.append(rng.choice(("", "1", "32[32]", values.odd(rng))))


def _reorder(rng, table):
    order = list(range(len(table.names)))
    rng.shuffle(order)
    table.names[:] = [table.names[at] for at in order]
    for row in table.rows:
        row[:] = [row[at] if at < len(row) else "" for at in order]


def _drop_rows(rng, table):
    for _ in range(rng.choice((1, 2, len(table.rows) // 2, len(table.rows)))):
        if table.rows:
            table.rows.pop(rng.randrange(len(table.rows)))


def _double_rows(rng, table):
    at = rng.randrange(len(table.rows))
    count = rng.choice((1, 2, 30))
    block = [list(row) for row in table.rows[at : at + rng.choice((1, 5, len(table.rows)))]]
    table.rows[at:at] = [list(row) for _ in range(count) for row in block][:MOST_ROWS]
    del table.rows[MOST_ROWS:]


def _shuffle_rows(rng, table):
    rng.shuffle(table.rows)


def _reverse_rows(_rng, table):
    table.rows.reverse()


def _ragged(rng, table):
    row = rng.choice(table.rows)
    if rng.random() < 0.5:
        del row[rng.randrange(len(row) + 1) :]
    else:
        row += [values.odd(rng) for _ in range(rng.choice((1, 3, 500)))]


def _header_again(rng, table):
    table.rows.insert(rng.randrange(len(table.rows)), list(table.names))


def _blank_rows(rng, table):
    table.rows.insert(rng.randrange(len(table.rows)), rng.choice(([], [""], [""] * len(table.names))))


def _signposts(rng, table):
    """Signpost rows, in the place and of the name a model would give them, or not."""
    if {"OP CODE", "OP TYPE"} <= set(table.names):
        code, kind = table.names.index("OP CODE"), table.names.index("OP TYPE")
        for name in rng.choice(
            (("start", "stop"), ("stop", "start"), ("start",), (values.odd(rng),), ("a", "a", "a"))
        ):
            row = [""] * len(table.names)
            row[code], row[kind] = name, "signpost"
            table.rows.insert(rng.randrange(len(table.rows) + 1), row)


def _devices(rng, table):
    """The rows of one device again, as another's."""
    if "DEVICE ID" in table.names:
        at = table.names.index("DEVICE ID")
        for row in [list(row) for row in table.rows if at < len(row)][: MOST_ROWS // 2]:
            row[at] = rng.choice(("1", "7", "31", "-1", "1.0", "1e9", ""))
            table.rows.append(row)


def _style(rng, table):
    table.delimiter = rng.choice((",", ",", ";", "\t", "|"))
    table.line_end = rng.choice(("\n", "\r\n", "\r", "\n\n"))
    table.quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_NONE))
    table.encoding = rng.choice(("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"))


def _around(rng, table):
    table.head = rng.choice(
        ("", "", "\n", "# comment\n", "sep=,\n", "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n", "\ufeff")
    )
    table.tail = rng.choice(
        ("", '"', "\x1a", "\x00" * 100, ",,,", '"open, and never closed', "\n" * 50, "a" * 100_000)
    )


def _flip_bytes(rng, content):
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 20))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def _cut_start(rng, content):
    return content[rng.randrange(min(len(content), 4000) + 1) :]


def _repeat_a_part(rng, content):
    start = rng.randrange(len(content) + 1)
    part = content[start : start + rng.choice((1, 10, 300))]
    return content[:start] + part * rng.choice((2, 50)) + content[start:]


def _insert_bytes(rng, content):
    at = rng.randrange(len(content) + 1)
    junk = rng.choice(
        (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b'"', b"\r", b"\n", b"\x1a", b",", b"\x00" * 5000)
    )
    return content[:at] + junk + content[at:]


_OF_BYTES = (_flip_bytes, _cut, _cut_start, _repeat_a_part, _insert_bytes)
_WEIGHTED = (
    *[_cell] * 10, *[_damage] * 8, *[_swap_cells] * 5, *[_whole_column] * 5, *[_some_of_a_column] * 4,
    *[_shuffled_column] * 2, *[_scaled_column] * 2, *[_drop_column] * 4, *[_rename] * 3, *[_double_header] * 2,
    _header_of_another, _old_and_new_name, _reorder, *[_drop_rows] * 2, *[_double_rows] * 2, _shuffle_rows,
    _reverse_rows, *[_ragged] * 2, _header_again, _blank_rows, *[_signposts] * 2, *[_devices] * 2, _style, _around,
)  # fmt: skip
