"""A performance CSV in pieces, and how it is written."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

NUL = "\ue000"  # stands for a null character meanwhile: csv of Python 3.10 takes that for its missing escape character


@dataclass
class CsvTable:
    """A CSV in pieces, and how it is written."""

    names: list
    rows: list
    delimiter: str = ","
    line_end: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    encoding: str = "utf-8"
    head: str = ""
    tail: str = ""
    written: list = field(default_factory=list)  # names of the mutations, for a person

    @classmethod
    def read(cls, content, most_rows=None):
        csv.field_size_limit(1 << 30)
        lines = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
        rows = lines[1:] if most_rows is None else lines[1 : most_rows + 1]
        return cls(lines[0], rows)

    def copy(self):
        return CsvTable(list(self.names), [list(row) for row in self.rows])

    def write(self):
        out = io.StringIO(newline="")
        quote = {"escapechar": "\\"} if self.quoting == csv.QUOTE_NONE else {}
        writer = csv.writer(
            out, delimiter=self.delimiter, lineterminator=self.line_end, quoting=self.quoting, **quote
        )
        for cells in (
            self.names,
            *(row if row != [""] else [" "] for row in self.rows),
        ):  # one empty cell needs quotes
            writer.writerow([cell.replace("\0", NUL) for cell in cells])
        text = self.head + out.getvalue().replace(NUL, "\0") + self.tail
        return text.encode(self.encoding, "surrogatepass" if self.encoding.startswith("utf") else "replace")

    def column(self, rng):
        return rng.randrange(len(self.names)) if self.names else None
