"""How an answer is cut to the bytes it may take."""

from tests.for_all import for_all
from ttnn_mcp.tools.budget import fitted, offset_of, size_of
from ttnn_mcp.tools.tool import Arguments, Budget
from ttnn_mcp.wire import Table, Wire, bytes_of

ENTRY = "e" * 97  # 100 bytes with its quotes and comma
BUDGET = Budget(4_000, cut=("entries",))


class Paged(Arguments):
    limit: int = 20
    cursor: str | None = None


class Whole(Arguments):
    whole: str | None = None


class Plain(Wire):
    entries: tuple[str, ...] = ()


class Counted(Wire):
    rows: Table
    named: dict[str, str] = {}  # noqa: RUF012
    more_rows: int = 0
    next_cursor: str | None = None


def plain(count):
    return Plain(entries=(ENTRY,) * count)


@for_all(
    ("asked", "size"),
    [
        (Arguments(), 4_000),
        (Paged(), 4_000),
        (Paged(limit=21), 35_000),
        (Whole(), 4_000),
        (Whole(whole="program_config"), 35_000),
    ],
)
def test_whoever_asks_for_more_gets_a_longer_answer(asked, size):
    assert size_of(BUDGET, asked) == size
    answer = fitted(plain(500), BUDGET, asked, "run")
    assert size - 100 <= bytes_of(answer.spoken()) <= size
    assert vars(answer) == vars(plain(len(answer.entries)))


def test_what_fits_stays_as_it_is():
    assert fitted(plain(39), BUDGET, Arguments(), "run") == plain(39)


def test_what_is_kept_however_long_it_is():
    assert fitted(plain(50), Budget(200, cut=("entries",), keep=3), Arguments(), "run") == plain(3)


def test_rows_that_go_are_counted_and_the_cursor_moves_to_them():
    whole = Counted(rows=Table(columns=("name",), rows=((ENTRY,),) * 50))
    answer = fitted(whole, Budget(4_000, cut=("rows",)), Paged(), "run")
    left = len(answer.rows.rows)
    assert (answer.more_rows, offset_of(answer.next_cursor, Paged(), "run")) == (50 - left, left)
    assert 3_900 - 20 <= bytes_of(answer.spoken()) <= 4_000


def test_the_longer_of_two_fields_is_cut():
    whole = Counted(
        rows=Table(columns=("name",), rows=(("one",),)), named={str(place): ENTRY for place in range(50)}
    )
    answer = fitted(whole, Budget(4_000, cut=("rows", "named")), Paged(), "run")
    assert [*answer.named] == [str(place) for place in range(len(answer.named))]
    assert 0 < len(answer.named) < 50
    assert len(answer.rows.rows) == 1
