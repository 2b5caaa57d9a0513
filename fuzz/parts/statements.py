"""SQL for query_run: statements that SQLite takes, statements that take forever, statements that would write."""

from __future__ import annotations

from fuzz import values
from fuzz.cases import Case
from fuzz.questions import PLACE
from fuzz.sources import sources

TABLES = ("ops", "signposts", "host_ops", "tensors", "operations", "buffers", "captured_graph", "devices", "errors", "report_metadata",
          "input_tensors", "stack_traces", "operation_arguments", "nosuch", "sqlite_master", "sqlite_schema", "pragma_table_info", "main.ops",
          "temp.ops", "json_each('[1]')", "json_tree('{}')", "generate_series(1, 9)", "dbstat", "sqlite_stat1")  # fmt: skip
COLUMNS = ("*", "op_code", "kernel_ns", "gap_ns", "line", "rowid", "operation_id", "name", "shape", "address", "count(*)", "1", "NULL", "x",
           "max(kernel_ns)", "captured_graph", "'\u202e'", "x'00ff'", "char(0, 27, 8238)", "1e999", "-9223372036854775808", "9e999 - 9e999")  # fmt: skip
FUNCTIONS = ("abs(-9223372036854775807 - 1)", "zeroblob(1000000000)", "randomblob(999999999)", "printf('%.*c', 100000000, 'x')", "load_extension('x')",
             "readfile('/etc/passwd')", "writefile('x', 'y')", "hex(op_code)", "replace(op_code, '', 'x')", "instr(op_code, 'a')", "substr(op_code, -5, 99)",
             "group_concat(op_code, char(10))", "json_group_array(op_code)", "json_extract(op_code, '$')", "unicode(op_code)", "trim(op_code, op_code)",
             "strftime('%Y', 'now')", "random()", "sqlite_version()", "total_changes()", "likelihood(1, 0.5)", "log(-1)", "sqrt(-1)", "pow(10, 400)",
             "fts5(1)", "edit('x')", "soundex('x')", "quote(x'00')", "median(kernel_ns)", "percentile(kernel_ns, 50)", "char(55296)", "format('%s', 1)")  # fmt: skip
WHERE = ("", "", " WHERE kernel_ns > 0", " WHERE op_code LIKE '%a%'", " WHERE op_code GLOB '*[a-'", " WHERE 1 = 0", " WHERE rowid IN (SELECT 1)",
         " GROUP BY 1", " GROUP BY op_code HAVING 1", " ORDER BY 2", " ORDER BY random()", " LIMIT -1", " LIMIT 1 OFFSET 99999999999",
         " UNION ALL SELECT 1", " UNION SELECT * FROM ops", " INTERSECT SELECT NULL", " WINDOW w AS ()", " WHERE op_code REGEXP 'x'", " WHERE op_code MATCH 'x'")  # fmt: skip


def _recursive(rng):
    return f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{rng.choice(('', ' LIMIT 100000000', ' WHERE i < 1000'))}) SELECT {rng.choice(('count(*)', 'i', 'sum(i)', 'group_concat(i)'))} FROM n"


def _doubling(rng):
    steps = rng.choice((3, 20, 40, 60))
    parts = ", ".join(
        f"t{at}(x) AS (SELECT x FROM t{at - 1} UNION ALL SELECT x FROM t{at - 1})" for at in range(1, steps)
    )
    return f"WITH t0(x) AS (SELECT 1), {parts} SELECT count(*) FROM t{steps - 1}"


def _joins(rng):
    table = rng.choice(("ops", "tensors", "buffers"))
    return f"SELECT count(*) FROM {', '.join(f'{table} a{at}' for at in range(rng.choice((2, 4, 12, 60))))}"


def _deep(rng):
    depth = rng.choice((5, 200, 1500))
    return rng.choice((
        "SELECT " + "(" * depth + "1" + ")" * depth,
        "SELECT * FROM " + "(SELECT * FROM " * min(depth, 300) + "ops" + ")" * min(depth, 300),
        "SELECT " + " + ".join(["1"] * depth),
        "SELECT " + ", ".join(["*"] * min(depth, 300)) + " FROM ops",
        "SELECT 1 " + " UNION ALL SELECT 1" * min(depth, 400),
        "SELECT CASE " + "WHEN 1 THEN 1 " * min(depth, 400) + "END",
    ))  # fmt: skip


def _growing(rng):
    return rng.choice((
        "WITH RECURSIVE g(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM g) SELECT length(s) FROM g",
        "WITH RECURSIVE g(s) AS (SELECT x'00' UNION ALL SELECT CAST(s || s AS BLOB) FROM g) SELECT max(length(s)) FROM g",
        "SELECT a.op_code, row_number() OVER (ORDER BY a.kernel_ns, b.kernel_ns, c.kernel_ns) FROM ops a, ops b, ops c",
        "SELECT sum(a.kernel_ns) OVER (ORDER BY b.rowid ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM ops a, ops b, ops c",
        "SELECT json_group_array(a.op_code || b.op_code || c.op_code) FROM ops a, ops b, ops c",
        "SELECT replace(hex(a.op_code), '4', hex(b.op_code)) FROM ops a, ops b",
        "SELECT DISTINCT a.op_code || b.rowid || c.rowid FROM ops a, ops b, ops c, ops d",
        "SELECT group_concat(captured_graph) FROM captured_graph, operations, operations",
        "SELECT count(*) FROM captured_graph, json_tree(captured_graph), operations",
        "SELECT value FROM captured_graph, json_each(captured_graph)",
    ))  # fmt: skip


def _forbidden(rng):
    return rng.choice((
        "ATTACH '/etc/passwd' AS x", "SELECT 1; DROP TABLE ops", "PRAGMA table_info(ops)", "DELETE FROM ops", "INSERT INTO ops VALUES (1)",
        "WITH x AS (SELECT 1) DELETE FROM ops", "VACUUM INTO 'x'", "CREATE TABLE x (a)", "BEGIN", "EXPLAIN SELECT 1", "VALUES (1)", "REPLACE INTO ops VALUES (1)",
        "SELECT * FROM pragma_database_list", "SELECT * FROM sqlite_master", "SELECT 1;", "SELECT 1;;", "SELECT 1; ", "SELECT 1 -- x", "/* x */ SELECT 1", "/*",
        "--", "SELECT", "WITH", "SELECT 1 /*", "SELECT '", 'SELECT "', "SELECT [", "SELECT `", "SELECT \x00 1", "SELECT 1\x00", "SELECT ?", "SELECT ?1, :a, @b, $c",
        "WITH RECURSIVE x AS (SELECT * FROM x) SELECT * FROM x", "SELECT * FROM ops INDEXED BY x", "SELECT rowid, * FROM ops NATURAL JOIN ops",
        "SELECT \ud800", "SELECT '\ud800'", "SELECT * FROM temp.sqlite_master", "SELECT raise(abort, 'x')", "SELECT load_extension('/tmp/x')",
    ))  # fmt: skip


def _plain(rng):
    columns = ", ".join(rng.choice(rng.choice((COLUMNS, FUNCTIONS))) for _ in range(rng.choice((1, 1, 2, 5))))
    return f"SELECT {columns} FROM {rng.choice(TABLES)}{rng.choice(WHERE)}{rng.choice(WHERE)}"


def _damaged(rng):
    return values.damaged(rng, statement(rng))[:10_000]


KINDS = (*[_plain] * 10, _recursive, _doubling, _joins, _deep, _growing, *[_forbidden] * 3, *[_damaged] * 4)


def statement(rng):
    """One statement."""
    return rng.choice(KINDS)(rng)


def run(sitting):
    """Statements until the time is up, eight of them about one run."""
    csvs, databases, pairs = sources(sitting.folder / "sources", shared=False)
    chosen = [csvs[0], csvs[-1], databases[-2], databases[-1], pairs[0]]
    for number in sitting.numbers():
        rng = sitting.random(number)
        source = rng.choice(chosen)
        place = sitting.folder / f"source-{source.name}"
        if not place.exists():
            place.mkdir()
            source.write(place)
        files = {path.name: path.read_bytes() for path in place.iterdir()}
        asked = [
            ("query_run", {"run": PLACE, "sql": statement(rng)[:10_000], "limit": rng.choice((1, 50, 1000))})
            for _ in range(8)
        ]
        sitting.judge(Case(files, tuple(asked)), number)
