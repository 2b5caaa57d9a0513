"""DuckDB behind an archive: how it is opened, what it is shown, and how a part is written."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.archive.parts import OPS_FILE, RUNS_FILE
from ttnn_mcp.archive.schema import OPS, RUNS, casts, names
from ttnn_mcp.errors import ArchiveUnusable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.parts import Share
    from ttnn_mcp.archive.places import Place
    from ttnn_mcp.archive.rows import RunRows

# of a row group: a signature is in few of them, as they are sorted by it, and only these are read
GROUP_ROWS = 16_384  # unmoved: groups of any size hold the same rows
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,  # nothing is ever downloaded
    "autoload_known_extensions": False,
    "allow_unsigned_extensions": False,
    "memory_limit": "1GB",  # enough for parts of a million rows; it must not drive out the server
    "temp_directory": "",  # no side files
    "enable_object_cache": True,  # footers are read once
}


@contextmanager
def failing_as_ours(done: str, place: str) -> Generator[None]:
    """Tell what the file system, the object store or the engine raises in our words.

    Raises:
        ArchiveUnusable: the block raised one of these.
    """
    try:
        yield
    except ArchiveUnusable:
        raise
    except ImportError as missing:
        raise ArchiveUnusable(
            f"The archive needs the package {missing.name or 'duckdb'}. Install the extra: ttnn-mcp[archive]."
        ) from None
    except MemoryError:
        raise ArchiveUnusable(f"Memory ran short at the archive {place}. Ask again when less is running.") from None
    except Exception as failed:
        if not _is_of_place(failed):
            raise
        why = f" ({failed.strerror})" if isinstance(failed, OSError) and failed.strerror else ""
        raise ArchiveUnusable(
            f"The archive {place} cannot be {done}{why}. Check that it exists, may be used, and has space."
        ) from None


def _is_of_place(failed: Exception) -> bool:
    """Whether the file system, the engine or the client of an object store raised it."""
    rooms = {kind.__module__.split(".")[0] for kind in type(failed).__mro__}
    return isinstance(failed, OSError) or bool(rooms & {"duckdb", "_duckdb", "botocore", "aiobotocore", "aiohttp"})


def connected(place: Place, threads: int = 2) -> DuckDBPyConnection:
    """The engine, in memory, able to read the place."""
    import duckdb  # noqa: PLC0415 - 0.15 s that only a use of the archive may cost

    connection = duckdb.connect(":memory:", config={**CONFIG, "threads": threads})
    if place.filesystem is not None:
        connection.register_filesystem(place.filesystem)
    return connection


def views(connection: DuckDBPyConnection, place: Place, chosen: Sequence[Share]) -> None:
    """Define the views `runs` and `ops` over these parts."""
    for view, ending, columns in (("runs", RUNS_FILE, RUNS), ("ops", OPS_FILE, OPS)):
        whole = [place.address(share.part.id + ending) for share in chosen if not share.elsewhere]
        nothing = ", ".join(f'NULL::{column.type} AS "{column.name}"' for column in columns)
        selects = [f"SELECT {nothing} WHERE false"]  # so that a column which no part has yet is NULL
        selects += [_select(whole)] if whole else []
        selects += [
            _select([place.address(share.part.id + ending)], share.elsewhere) for share in chosen if share.elsewhere
        ]
        text = " UNION ALL BY NAME ".join(selects)
        connection.execute(f"CREATE OR REPLACE VIEW {view} AS {text}")


def _select(addresses: list[str], without: Collection[str] = ()) -> str:
    files = ", ".join(map(_quoted, addresses))
    return f"SELECT * FROM read_parquet([{files}], union_by_name = true){_leaving_out(without)}"  # noqa: S608 - quoted


def _leaving_out(run_keys: Collection[str]) -> str:
    """The condition without these runs; nothing without any."""
    return f" WHERE run_key NOT IN ({', '.join(map(_quoted, sorted(run_keys)))})" if run_keys else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def write_part(
    connection: DuckDBPyConnection,
    place: Place,
    identity: str,
    runs: Sequence[RunRows] | None,
    *,
    without: Collection[str] = (),
) -> int:
    """Write the two Parquet files of a part; returns their bytes.

    Args:
        connection: the engine.
        place: where to.
        identity: the part's name.
        runs: what to write; None takes the rows of the views `runs` and `ops`.
        without: keys of runs to leave out.
    """
    sources = {"runs": "runs", "ops": "ops"}
    if runs is not None:
        sources = {"runs": "new_runs", "ops": "new_ops"}
        for name, frame in _frames(runs).items():
            connection.register(f"new_{name}", frame)
    size = 0
    for name, ending, columns, order in (
        ("ops", OPS_FILE, OPS, "signature, run_key, line"),
        ("runs", RUNS_FILE, RUNS, "recorded_at, run_key"),
    ):
        select = f"SELECT {casts(columns)} FROM {sources[name]}{_leaving_out(without)} ORDER BY {order}"  # noqa: S608 - ours
        with place.filled(identity + ending) as path:
            connection.execute(
                f"COPY ({select}) TO {_quoted(str(path))} "
                f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS})"
            )
            size += path.stat().st_size
    return size


def _frames(runs: Sequence[RunRows]) -> dict[str, Any]:
    import pandas as pd  # noqa: PLC0415 - loaded with the reports whose rows these are
    from pandas.api.types import union_categoricals  # noqa: PLC0415

    frames = [rows.ops for rows in runs]
    ops: dict[str, Any] = {}
    for column in OPS:
        pieces = [frame[column.name] for frame in frames]
        if isinstance(pieces[0].dtype, pd.CategoricalDtype):  # unmoved: each distinct text once spares memory
            ops[column.name] = union_categoricals(cast("list[Any]", pieces))
        else:
            ops[column.name] = pd.concat(pieces, ignore_index=True)
    return {"ops": pd.DataFrame(ops), "runs": pd.DataFrame([rows.run for rows in runs], columns=list(names(RUNS)))}
