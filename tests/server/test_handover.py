"""A client that is handed over is not answered a second time, and is otherwise told everything."""

from types import SimpleNamespace

from ttnn_mcp.server.stdio import Unrepeated


class Outgoing:
    def __init__(self):
        self.sent = []

    async def send(self, message):
        self.sent.append(message.message)


async def test_a_response_is_swallowed_once_and_a_request_or_a_notification_never():
    outgoing = Outgoing()
    unrepeated = Unrepeated(outgoing, [1, "a"])
    request = SimpleNamespace(id=1, method="ping")  # of the server to the client: it numbers its own
    notification = SimpleNamespace(method="notifications/progress")
    first, other, again = (SimpleNamespace(id=number) for number in (1, 2, 1))
    for message in (request, notification, first, other, SimpleNamespace(id="a"), again):
        await unrepeated.send(SimpleNamespace(message=message))
    assert outgoing.sent == [request, notification, other, again]
