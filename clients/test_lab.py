"""A lab server under load and behind a real proxy (`make lab`).

Times are compared within one run, because machines differ: the slowest calls with the usual one.
"""

import asyncio
import shutil
import ssl
import statistics
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path

import httpx2
import pytest

from clients.installed import ROOT
from ttnn_mcp.session.places import demo_reports

CLIENTS, CALLS = 64, 100
LARGE_ROWS = 400_000
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
QUESTIONS = (  # what agents ask in a loop, all of a run that is open
    ("list_ops", {"run": "demo", "group_by": "op_code", "limit": 5}),
    ("op_detail", {"run": "demo", "op": 59}),
    ("host_overhead", {"run": "demo"}),
    ("skill_step", {"page": "step-04-metal-trace.md"}),
)
TOKEN = "lab-" + "t" * 30
NGINX = """\
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port} ssl;
    server_name lab.example.org;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
{location}
  }}
}}
"""


@pytest.fixture
def served(tmp_path):
    """Start a server with more words on its command line; give its port."""
    started = []

    def start(*words):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "ttnn_mcp", "serve", "--http", "127.0.0.1:0", *words),
                *("--root", tmp_path, "--state", tmp_path / "state"),
            ],
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        started.append(process)
        return int(process.stderr.readline().rpartition("/mcp")[0].rpartition(":")[2])

    yield start
    for process in started:
        process.terminate()
        assert process.wait(30) == 0
        assert "Traceback" not in process.stderr.read()
        process.stderr.close()


async def asked(client, url, tool, arguments, number=1):
    """Seconds until a tool answered, and the answer."""
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
    body["params"] = {"name": tool, "arguments": arguments, "_meta": META}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": META["io.modelcontextprotocol/protocolVersion"],
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    begun = time.monotonic()
    answer = await client.post(url, json=body, headers=headers)
    took = time.monotonic() - begun
    assert answer.status_code == 200, answer.text
    assert '"isError":true' not in answer.text.replace(" ", ""), answer.text
    assert '"result"' in answer.text, answer.text
    return took, answer.text


async def test_64_clients_with_100_calls_each_get_all_answers_evenly(served):
    url = f"http://127.0.0.1:{served()}/mcp"

    async def agent(number):
        async with httpx2.AsyncClient(timeout=120) as client:
            questions = islice(cycle(QUESTIONS), number % len(QUESTIONS), None)
            return [(await asked(client, url, *next(questions), call))[0] for call in range(CALLS)]

    async with httpx2.AsyncClient(timeout=120) as first:
        for question in QUESTIONS:  # what loads with the first call is another figure
            await asked(first, url, *question)
    begun = time.monotonic()
    seconds = sorted(took for times in await asyncio.gather(*map(agent, range(CLIENTS))) for took in times)
    took = time.monotonic() - begun
    median, p99 = statistics.median(seconds), seconds[int(len(seconds) * 0.99)]
    print(f"\n{len(seconds)} calls in {took:.1f} s; p50 {median * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms")  # noqa: T201 - the figures
    assert len(seconds) == CLIENTS * CALLS
    assert p99 <= 5 * median


@pytest.fixture
def large(tmp_path):
    """A large report: the rows of the demo again and again."""
    path = tmp_path / "ops_perf_results_large.csv"
    demo = next(Path(demo_reports()[0]).rglob("ops_perf_results*.csv"))
    header, *rows = demo.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(header + "".join(rows) * (LARGE_ROWS // len(rows)), encoding="utf-8")
    return path


async def test_a_large_report_that_one_client_opens_blocks_nobody_else(served, large):
    url = f"http://127.0.0.1:{served()}/mcp"
    async with httpx2.AsyncClient(timeout=300) as one, httpx2.AsyncClient(timeout=300) as other:
        for question in QUESTIONS:
            await asked(other, url, *question)
        alone = statistics.median([(await asked(other, url, *QUESTIONS[0]))[0] for _ in range(30)])
        opening = asyncio.create_task(asked(one, url, "optimization_check", {"run": str(large)}))
        beside = []
        while not opening.done():
            beside.append((await asked(other, url, *QUESTIONS[0]))[0])
        slow, _ = await opening
    print(f"\nalone {alone:.3f} s; beside {slow:.1f} s of work: worst of {len(beside)} {max(beside):.3f} s")  # noqa: T201
    assert slow > 20 * alone  # it was slow enough to block somebody
    assert len(beside) >= 5
    assert max(beside) < max(slow / 4, 20 * alone)


@pytest.fixture
def proxied(served, tmp_path):
    """The address under which nginx, as the page for labs sets it up, serves a server that asks for tokens."""
    if not (shutil.which("nginx") and shutil.which("openssl")):
        pytest.skip("nginx and openssl are not installed here")
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada {TOKEN}\n")
    tokens.chmod(0o600)
    port = served("--token-file", str(tokens), "--allow-host", "lab.example.org")
    page = (ROOT / "resources" / "lab-server.md").read_text(encoding="utf-8")
    location = page.split("```nginx\n")[1].split("```")[0].replace("127.0.0.1:8765", f"127.0.0.1:{port}")
    folder = tmp_path / "nginx"
    folder.mkdir()
    subject = ["-subj", "/CN=lab.example.org", "-addext", "subjectAltName=DNS:lab.example.org"]
    keys = ["-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run([shutil.which("openssl"), "req", "-x509", *keys, *subject], check=True, capture_output=True)
    public = 20_000 + port % 10_000
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=public, location=location))
    process = subprocess.Popen(
        [shutil.which("nginx"), "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL
    )
    yield f"https://127.0.0.1:{public}", ssl.create_default_context(cafile=folder / "cert.pem")
    process.terminate()
    process.wait(20)


async def test_behind_nginx_with_tls_a_token_is_asked_for_and_answers_and_streams_pass(proxied):
    url, trust = proxied
    lab = {"Host": "lab.example.org"}
    bearer = {**lab, "Authorization": f"Bearer {TOKEN}"}
    named = {"sni_hostname": "lab.example.org"}

    class Named(httpx2.AsyncClient):
        async def request(self, *words, **more):
            return await super().request(*words, **{**more, "extensions": named})

    for _ in range(50):  # nginx needs a moment
        try:
            async with Named(verify=trust, headers=lab) as nobody:
                assert (await nobody.post(f"{url}/mcp", json={})).status_code == 401
                page = (await nobody.get(f"{url}/")).text
            break
        except httpx2.ConnectError:
            await asyncio.sleep(0.1)
    assert "https://lab.example.org/mcp" in page
    async with Named(verify=trust, headers=bearer, timeout=60) as ada:
        for question in QUESTIONS:
            await asked(ada, f"{url}/mcp", *question)
        listen = {"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen"}
        listen["params"] = {"notifications": {"resourceSubscriptions": ["ttnn://runs"]}, "_meta": META}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": META["io.modelcontextprotocol/protocolVersion"],
            "Mcp-Method": "subscriptions/listen",
        }
        async with ada.stream("POST", f"{url}/mcp", json=listen, headers=headers, extensions=named) as stream:
            first = await asyncio.wait_for(anext(stream.aiter_text()), 10)  # unbuffered: it comes at once
        assert first
