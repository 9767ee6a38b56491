"""The server under attack: by starlette's client, and where the wire matters by raw sockets to a real one."""

import asyncio
import http.client
import json
import logging
import socket
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogmap.workbench import Workbench
from cogmap.workbench.guard import HEADERS, LARGEST_BODY
from cogmap.workbench.server import application, listening, page_files, serve

testclient = pytest.importorskip("starlette.testclient", reason="the server needs starlette", exc_type=ImportError)
uvicorn = pytest.importorskip("uvicorn", reason="the server needs uvicorn")

TOKEN, PORT = "the-token-of-this-test", 8123
OWN = {"Host": f"127.0.0.1:{PORT}", "Origin": f"http://127.0.0.1:{PORT}", "Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def quiet(network, iris):
    return Workbench(network, *iris, refit=False)


@pytest.fixture(scope="module")
def client(quiet):
    with testclient.TestClient(application(quiet, TOKEN, PORT), base_url=f"http://127.0.0.1:{PORT}") as client:
        yield client


def post(client, name="state", payload=None, leave=(), **headers):
    given = {key: value for key, value in {**OWN, **headers}.items() if key not in leave}
    return client.post(f"/call/{name}", json={} if payload is None else payload, headers=given)


def test_a_call_passes_with_token_host_and_origin(client):
    answer = post(client)
    assert answer.status_code == 200
    assert answer.json()["n_rows"] == 150
    local = {"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}"}
    assert post(client, **local).status_code == 200


@pytest.mark.parametrize(
    ("leave", "headers", "status"),
    [
        (["Authorization"], {}, 401),
        ([], {"Authorization": "Bearer wrong"}, 401),
        ([], {"Authorization": "Bearer "}, 401),
        ([], {"Authorization": TOKEN}, 401),
        ([], {"Authorization": f"Bearer {TOKEN}x"}, 401),
        (["Authorization"], {"Cookie": f"token={TOKEN}"}, 401),
        ([], {"Host": "evil.example"}, 403),
        ([], {"Host": f"evil.example:{PORT}", "Origin": f"http://evil.example:{PORT}"}, 403),
        ([], {"Host": "127.0.0.1"}, 403),
        ([], {"Host": f"127.0.0.1:{PORT}.evil.example"}, 403),
        ([], {"Host": "127.0.0.1:9999"}, 403),
        ([], {"Origin": "https://evil.example"}, 403),
        ([], {"Origin": "null"}, 403),
        ([], {"Origin": f"https://127.0.0.1:{PORT}"}, 403),
        ([], {"Origin": f"http://localhost:{PORT}"}, 403),
        (["Origin"], {}, 403),
        ([], {"Sec-Fetch-Site": "cross-site"}, 403),
        ([], {"Sec-Fetch-Site": "same-site"}, 403),
        ([], {"Upgrade": "websocket", "Connection": "Upgrade"}, 400),
        ([], {"Content-Type": "text/plain"}, 415),
        ([], {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ([], {"Content-Length": "1000000000"}, 413),
        ([], {"Content-Length": "9" * 400}, 413),
    ],
)
def test_calls_without_the_right_token_host_origin_or_kind_are_refused(client, caplog, leave, headers, status):
    with caplog.at_level(logging.WARNING, "cogmap.workbench"):
        answer = post(client, leave=leave, **headers)
    assert answer.status_code == status
    assert answer.json()["error"]["kind"] == "refused"
    assert "/call/state" in caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN not in answer.text
    assert "n_rows" not in answer.text


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("path", ["/call/state", "/files", "/static/none.js", "/static/", "/favicon.ico"])
def test_nothing_but_the_pages_files_is_there_without_a_token(client, method, path):
    answer = client.request(method, path, headers={"Host": OWN["Host"]})
    assert answer.status_code == 401
    with_token = client.request(method, path, headers=OWN)
    assert with_token.status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_pages_files_can_only_be_read(client, method):
    assert client.request(method, "/", headers={"Host": OWN["Host"], "Origin": OWN["Origin"]}).status_code == 401


def test_the_page_needs_no_token_but_the_right_host(client):
    files = page_files()
    assert {"index.html", "app.js", "app.css", "main.js"} <= set(files)
    for name, content in files.items():
        answer = client.get(f"/static/{name}", headers={"Host": OWN["Host"]})
        assert (answer.status_code, answer.content) == (200, content)
        assert client.get(f"/static/{name}", headers={"Host": f"evil.example:{PORT}"}).status_code == 403
    assert client.get("/", headers={"Host": OWN["Host"]}).content == files["index.html"]
    assert client.get("/", headers={**OWN, "Origin": "http://evil.example"}).status_code == 403


def test_every_answer_has_the_policy(client):
    answers = [client.get("/", headers=OWN), post(client), post(client, leave=["Authorization"]), post(client, "none")]
    for answer in answers:
        for name, value in HEADERS:
            assert answer.headers[name.decode()] == value.decode()
    policy = answers[0].headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/%2e%2e/core/types.py", "/static//etc/passwd",
        "/static/..\\server.py", "/static/%00", "/static/page/../../guard.py", "/call/../state",
    ],
)  # fmt: skip
def test_paths_that_lead_out_of_the_page_lead_nowhere(client, path):
    answer = client.get(path, headers=OWN)
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize("name", ["../../etc/x.toml", "/etc/passwd", "a/b.toml", "..\\x.toml", "x\0.toml"])
def test_files_are_read_and_written_in_the_folder_only(client, quiet, name):
    before = sorted(quiet.folder.path.parent.iterdir())
    said = {"author": "A", "reason": "b"}
    for call, payload in (
        ("export", {"what": "knowledge", "file": name}),
        ("add_knowledge", {"file": name, **said}),
        ("load_map", {"file": name}),
    ):
        answer = post(client, call, payload)
        assert answer.status_code == 400
        assert "is no name of a file" in answer.json()["error"]["message"]
    assert sorted(quiet.folder.path.parent.iterdir()) == before


def test_web_sockets_are_refused_with_and_without_the_token(client, caplog):
    for headers in ({}, OWN):
        with pytest.raises(testclient.WebSocketDisconnect), client.websocket_connect("/call/state", headers=headers):
            pass
    assert caplog.text.count("WebSocket") == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"row": NaN}', b"[" * 100_000, b"\xff\xfe", b'{"row": 1e999}', b'"\\ud800"'],
)
def test_bodies_that_are_no_payload_are_mistakes(client, content):
    answer = client.post("/call/what_if", content=content, headers={**OWN, "Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["kind"] == "mistake"


def test_a_token_in_a_path_is_not_logged(client, caplog):
    with caplog.at_level(logging.WARNING, "cogmap.workbench"):
        client.get(f"/{TOKEN}?token={TOKEN}", headers={"Host": OWN["Host"]})
        client.get("/line%0abreak%1b[2J", headers={"Host": OWN["Host"]})
    assert TOKEN not in caplog.text
    assert "'/…'" in caplog.text or "'/\\u2026'" in caplog.text
    assert "\x1b" not in caplog.text
    assert "line\nbreak" not in caplog.text


def apart(function, *arguments, **options):
    """Call a function in a thread of its own: the browser of other tests has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments, **options).result(60)


def test_a_body_that_grows_too_large_is_refused_on_the_way(quiet):
    sent, answers = 0, []

    async def receive():
        nonlocal sent
        sent += 1 << 20
        return {"type": "http.request", "body": b" " * (1 << 20), "more_body": sent < 1 << 30}

    async def send(message):
        answers.append(message)

    headers = [(key.lower().encode(), value.encode()) for key, value in OWN.items()]
    scope = {"type": "http", "method": "POST", "path": "/call/state", "raw_path": b"/call/state", "query_string": b""}
    scope |= {"headers": [*headers, (b"content-type", b"application/json")], "root_path": ""}
    apart(asyncio.run, application(quiet, TOKEN, PORT)(scope, receive, send))
    assert answers[0]["status"] == 413
    assert "larger than 16 MB" in json.loads(answers[1]["body"])["error"]["message"]
    assert sent <= LARGEST_BODY + (1 << 20)


@contextmanager
def running(bench, token=TOKEN):
    """Serve on a free port of the loopback; yield the port."""
    listener = listening()
    port = listener.getsockname()[1]
    config = uvicorn.Config(application(bench, token, port), ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def head(port, *lines):
    own = [f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", f"Authorization: Bearer {TOKEN}"]
    return "\r\n".join(["POST /call/state HTTP/1.1", *own, "Content-Type: application/json", *lines, "", ""]).encode()


def said_by(wire):
    wire.settimeout(10)
    answer = b""
    while part := wire.recv(65536):
        answer += part
    return answer


@pytest.fixture(scope="module")
def port(quiet):
    with running(quiet) as port:
        yield port


def test_a_gigabyte_is_refused_before_it_is_sent(port):
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(head(port, f"Content-Length: {1 << 30}"))
        assert said_by(wire).startswith(b"HTTP/1.1 413")


def test_a_gigabyte_in_chunks_is_refused_soon_after_the_limit(port):
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(head(port, "Transfer-Encoding: chunked"))
        try:
            for _ in range(1 << 10):
                wire.sendall(chunk)
                sent += 1 << 20
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert sent < 4 * LARGEST_BODY


def test_an_upgrade_to_a_web_socket_is_refused_on_the_wire(port):
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    with socket.create_connection(("127.0.0.1", port)) as wire:
        lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", key, "Content-Length: 0"]
        wire.sendall(head(port, *lines))
        assert said_by(wire).startswith(b"HTTP/1.1 400")


def test_two_hosts_are_refused_on_the_wire(port):
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(head(port, "Host: evil.example", "Content-Length: 2") + b"{}")
        assert said_by(wire).startswith(b"HTTP/1.1 400")


def test_the_server_listens_on_the_loopback_only(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # no packet is sent: it only asks which address would be used
        except OSError:
            pytest.skip("this machine has no other address")
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
        socket.create_connection((own, port), timeout=2)


def test_two_tabs_over_the_wire_conflict_in_words(client):
    said = {"author": "A", "reason": "b", "version": post(client).json()["version"]}
    names = [column["name"] for column in post(client).json()["columns"]]
    first = post(client, "forbid", {"source": names[0], "target": names[1], **said})
    second = post(client, "forbid", {"source": names[1], "target": names[0], **said})
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["error"]["kind"] == "conflict"
    assert "changed meanwhile by A" in second.json()["error"]["message"]


def test_serve_tells_a_url_that_works_and_closes_at_the_end(network, iris, monkeypatch):
    opened, told = [], []
    monkeypatch.setattr(
        "webbrowser.open", lambda url: opened.append((url, Path(url.removeprefix("file://")).read_text()))
    )
    bench = Workbench(network, *iris, refit=False)

    def tell(url):
        told.append(url)
        threading.Thread(target=ask, args=(url,), daemon=True).start()

    def ask(url):
        address, token = url.split("/#token=")
        headers = {"Authorization": f"Bearer {token}", "Origin": address, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}/call/progress", b"{}", headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            told.append(json.load(answer))
        servers[0].should_exit = True

    servers, make = [], uvicorn.Server
    monkeypatch.setattr(uvicorn, "Server", lambda config: servers.append(make(config)) or servers[0])
    apart(serve, bench, tell=tell)
    url, page = opened[0]
    assert told[0] not in url  # other users of the machine see what a browser is started with
    assert told[0].split("#")[1] in page
    assert told[1]["state"] == "idle"


def test_a_port_that_is_taken_is_named():
    with listening() as taken:
        number = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {number} cannot be used .*: name another by --port"):
            listening(number)


def test_calls_side_by_side_are_all_answered(port):
    answers = []

    def ask():
        wire = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        own = {"Origin": f"http://127.0.0.1:{port}", "Authorization": f"Bearer {TOKEN}"}
        wire.request("POST", "/call/what_if", b'{"row": 3}', {**own, "Content-Type": "application/json"})
        answers.append(json.load(wire.getresponse())["predicted"])
        wire.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    begun = time.monotonic()
    for thread in threads:
        thread.join(30 - (time.monotonic() - begun))
    assert answers == ["setosa"] * 8
