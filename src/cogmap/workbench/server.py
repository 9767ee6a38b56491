"""The local server: the page's files, and one way in, `POST /call/NAME`.

It listens on the loopback only, on a socket of its own, and everything passes the `guard` first.

Easy to get wrong: what a program is started with can be seen by all users of a machine. A browser is therefore given a
file that only its user can read, and which leads to the URL with the token.
"""

import html
import json
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ..intake.checks import module
from . import seam
from .guard import App, Guard, RefusedError

LOOPBACK = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


def page_files() -> dict[str, bytes]:
    """Return the files of the page by their names under its folder, as "vendor/name.js"."""
    return dict(_files(resources.files(__package__) / "page", ""))


def _files(folder: Traversable, before: str) -> list[tuple[str, bytes]]:
    found = []
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            found += _files(one, f"{before}{one.name}/")
        elif Path(one.name).suffix in TYPES:
            found.append((before + one.name, one.read_bytes()))
    return found


def application(bench: Any, token: str, port: int) -> App:
    """Return the guarded application of a workbench.

    Parameters
    ----------
    bench : Workbench
        The workbench.
    token : str
        The secret that requests must have.
    port : int
        The port at which it is called.

    Returns
    -------
    ASGI application
        The application.
    """
    routing, requests, answers, threads = (
        module(f"starlette.{name}", "workbench") for name in ("routing", "requests", "responses", "concurrency")
    )
    files = page_files()

    async def page(request: Any) -> Any:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            raise RefusedError(404, "There is no such file.")
        return answers.Response(files[name], headers={"content-type": TYPES[Path(name).suffix]})

    async def called(request: Any) -> Any:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "The request is no JSON: send it as application/json.")
        try:
            content = await request.body()
        except requests.ClientDisconnect:
            raise RefusedError(400, "The request ended before it was complete.") from None
        status, text = await threads.run_in_threadpool(answer, bench, request.path_params["name"], content)
        return answers.Response(text, status_code=status, media_type="application/json")

    async def unknown(request: Any) -> Any:
        raise RefusedError(404, "There is nothing here.")

    routes = [
        routing.Route("/", page, methods=["GET"]),
        routing.Route("/static/{name:path}", page, methods=["GET"]),
        routing.Route("/call/{name}", called, methods=["POST"]),
        routing.Route("/{rest:path}", unknown, methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
    ]
    shell = {"/", *(f"/static/{name}" for name in files)}
    hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
    return Guard(routing.Router(routes), token, hosts, shell)


def answer(bench: Any, name: str, content: bytes) -> tuple[int, str]:
    """Return the status and the JSON of a call's answer."""
    try:
        payload = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        status, data = 400, seam.failure("mistake", f"The request is no JSON that can be read: {said}.")
    else:
        status, data = seam.answer(bench, name, payload)
    return status, json.dumps(data, allow_nan=False)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def listening(port: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback; port 0 is any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise OSError(f"Port {port} cannot be used ({error.strerror}): name another by --port, or none.") from error
    listener.listen(128)
    return listener


def serve(bench: Any, *, port: int = 0, browser: bool = True, tell: Callable[[str], None] = print) -> None:
    """Serve a workbench until it is interrupted.

    Parameters
    ----------
    bench : Workbench
        The workbench; it is closed at the end.
    port : int, default=0
        The port on the loopback; 0 for any free one.
    browser : bool, default=True
        Whether to open the page in the user's browser.
    tell : callable, default=print
        What the URL is told to.
    """
    uvicorn = module("uvicorn", "workbench")
    listener = listening(port)
    try:
        with tempfile.TemporaryDirectory(prefix="cogmap-") as folder:
            number, token = listener.getsockname()[1], secrets.token_urlsafe(32)
            url = f"http://{LOOPBACK}:{number}/#token={token}"
            app = application(bench, token, number)
            options = {"log_config": None, "access_log": False, "log_level": "warning", "server_header": False}
            server = uvicorn.Server(uvicorn.Config(app, ws="none", lifespan="off", **options))
            tell(url)
            if browser:
                webbrowser.open(_leading(Path(folder), url).as_uri())
            try:
                server.run(sockets=[listener])
            except KeyboardInterrupt:
                return
    finally:
        listener.close()
        bench.close()


def _leading(folder: Path, url: str) -> Path:
    """Write a file that leads to a URL, into a folder that nobody else can read."""
    path = folder / "workbench.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={html.escape(url)}">'
        f'<title>cogmap workbench</title><a href="{html.escape(url)}">The workbench</a>',
        encoding="utf-8",
    )
    return path
