"""A page as a test reads it: its elements, its texts, and the answers inside."""

import json
from html.parser import HTMLParser

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Every element with its attributes, and the text of every cell."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.cells, self.open, self.content, self.scripts = [], [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
        if tag in ("td", "dd"):
            self.cells.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"</{tag}> ends {self.open[-1]}"
        self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        tag, attributes = self.open[-1]
        if tag in ("td", "dd"):
            self.cells[-1] += data
        if tag == "script":
            self.scripts[-1] += data
            if attributes.get("id") == "content":
                self.content += data

    @property
    def answers(self):
        return json.loads(self.content)


def numbers_in(plain):
    """Every number of a JSON value."""
    if isinstance(plain, bool):
        return
    if isinstance(plain, int | float):
        yield plain
    elif isinstance(plain, dict):
        for part in plain.values():
            yield from numbers_in(part)
    elif isinstance(plain, list):
        for part in plain:
            yield from numbers_in(part)


def rows_of(columns):
    """A table of the page's answers row by row, as the tools send it."""
    spread = [
        cells if isinstance(cells, list) else [None if at is None else cells["words"][at] for at in cells["at"]]
        for cells in columns.values()
    ]
    return [list(row) for row in zip(*spread, strict=True)]
