"""When a connection is waited for: while a part of a request is missing, by one clock that nothing lengthens."""

import asyncio
from types import SimpleNamespace

import pytest
import uvicorn
from uvicorn.server import ServerState

from ttnn_mcp.server.http.turns import Impatient

HEAD = b"POST /mcp HTTP/1.1\r\nHost: lab\r\nContent-Length: 10\r\n\r\n"
WHOLE = HEAD + b"0123456789"


class Transport(asyncio.Transport):
    def __init__(self):
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


class Clocks:
    """An event loop whose timers only stand there."""

    def __init__(self):
        self.started = []
        self.create_task = asyncio.get_running_loop().create_task

    def call_later(self, _seconds, callback, *_given):
        timer = SimpleNamespace(callback=callback, runs=True)
        timer.cancel = lambda: setattr(timer, "runs", False)
        self.started.append(timer)
        return timer


class Connection:
    """One client's connection; requests are answered when `answer` is set, without a look at their body."""

    def __init__(self):
        self.clocks, self.transport, self.answer = Clocks(), Transport(), asyncio.Event()
        config = uvicorn.Config(self.application, interface="asgi3", log_level="error", lifespan="off")
        self.protocol = Impatient(config, ServerState(), {}, _loop=self.clocks)
        self.protocol.connection_made(self.transport)

    async def application(self, _scope, _receive, send):
        await self.answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    def hears(self, data):
        self.protocol.data_received(data)

    async def answers(self):
        self.answer.set()
        await asyncio.sleep(0.01)
        self.answer.clear()
        return self.transport.written.count(b"200 OK")

    @property
    def waits(self):
        """The clocks that run, of those that we started."""
        return [timer for timer in self.clocks.started if timer.runs and timer.callback == self.protocol._give_up]


@pytest.fixture
async def connection():
    return Connection()


async def test_one_clock_runs_until_the_request_is_there(connection):
    [clock] = connection.waits
    for byte in WHOLE[:-1]:
        connection.hears(bytes([byte]))
        assert connection.waits == [clock]
    connection.hears(WHOLE[-1:])
    assert connection.waits == []


async def test_none_runs_while_an_answer_is_made_and_between_requests(connection):
    connection.hears(WHOLE)
    connection.hears(HEAD[:20])  # of the next request, during the answer
    assert connection.waits == []
    connection.hears(HEAD[20:] + b"0123456789")
    assert await connection.answers() == 2
    assert connection.waits == []


@pytest.mark.parametrize("before", [WHOLE + HEAD[:20], WHOLE], ids=["with the first", "after the first"])
async def test_a_new_one_runs_for_the_next_request(connection, before):
    connection.hears(before)
    assert await connection.answers() == 1
    connection.hears(HEAD[20:40])
    assert len(connection.waits) == 1


async def test_an_answer_to_half_a_request_starts_no_second_clock(connection):
    clocks = connection.waits
    connection.hears(HEAD + b"01234")
    assert await connection.answers() == 1
    assert connection.waits == clocks


async def test_the_end_of_a_connection_stops_its_clock(connection):
    connection.protocol.connection_lost(None)
    assert connection.waits == []


@pytest.mark.parametrize(("heard", "closed"), [([], True), ([HEAD], True), ([WHOLE], False)])
async def test_a_clock_that_runs_out_closes_only_what_is_not_there(connection, heard, closed):
    [clock] = connection.waits
    for part in heard:
        connection.hears(part)
    clock.callback()
    assert connection.transport.closed == closed
