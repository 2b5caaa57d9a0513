"""Memory databases of a few rows, made by plain sqlite3 for one question each."""

import sqlite3
from contextlib import asynccontextmanager

from ttnn_mcp.readers.memory.database import open_database
from ttnn_mcp.readers.memory.rows import Rows
from ttnn_mcp.readers.memory.schema import read_schema

# the tables of 2024, which every later generation extends
TABLES = {
    "operations": "operation_id int, name text, duration float",
    "tensors": "tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, address int, buffer_type int",
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "buffers": "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int",
}


def made(folder, tables=TABLES, **rows):
    """A database with these tables (name -> columns) and rows (table -> tuples)."""
    folder.mkdir(exist_ok=True)
    connection = sqlite3.connect(folder / "db.sqlite")
    for name, columns in tables.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    for table, tuples in rows.items():
        if tuples:
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(tuples[0]))})", tuples)
    connection.commit()
    connection.close()
    return folder


def ranked(*tables):
    return {
        name: f"{columns}, rank int NOT NULL DEFAULT 0" if name in tables else columns
        for name, columns in TABLES.items()
    }


@asynccontextmanager
async def opened(folder, rank=None):
    """The rows of such a database."""
    async with open_database(folder / "db.sqlite") as connection:
        yield Rows(connection, await read_schema(connection, rank))
