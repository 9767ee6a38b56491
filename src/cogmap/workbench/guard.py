"""The guard before everything: no request of whatever kind passes without the right Host, Origin and token.

Any page that a browser shows may send requests to a server on this machine, and any name may be made to lead to it (DNS
rebinding). So Host must be one of the server's own, Origin the server itself, and the token, which only the printed URL
holds, must come in a header, which no foreign page can send. The page's own files, which are in the package for
anybody to read, need no token: a browser cannot send it before it has them. WebSockets are refused.

Easy to get wrong: a refusal is logged without what made it wrong. Headers may hold secrets, and a path whatever
somebody put there by mistake, also the token.
"""

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from .seam import failure

log = logging.getLogger("cogmap.workbench")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 16 * 2**20
"""Bytes of the largest request: a map of some thousand concepts."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class RefusedError(Exception):
    """A request that does not pass: its status, and why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Guard:
    """An ASGI application that lets pass to another what may pass.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        The secret of this start.
    hosts : collection of str
        Names and port under which the server may be called, as "127.0.0.1:8000".
    shell : collection of str
        Paths of the page's own files.
    """

    def __init__(self, app: App, token: str, hosts: Collection[str], shell: Collection[str]) -> None:
        self.app, self.token, self.hosts, self.shell = app, token, frozenset(hosts), frozenset(shell)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            self._log(scope, "WebSocket")
            await send({"type": "websocket.close", "code": 1008, "reason": "WebSockets are refused."})
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

        try:
            self.check(scope)
            await self.app(scope, _limited(receive), guarded)
        except RefusedError as refused:
            self._log(scope, refused.message)
            if not begun:
                await _refuse(guarded, refused)

    def check(self, scope: Scope) -> None:
        """Raise where a request may not pass."""
        host = self._one(scope, b"host")
        if host not in self.hosts:
            raise RefusedError(403, "This is not the Host of the workbench: open the URL that was printed.")
        method, origin = scope["method"], self._one(scope, b"origin")
        if origin not in ("", f"http://{host}"):
            raise RefusedError(403, "Another origin may not call the workbench.")
        if self._one(scope, b"upgrade"):
            raise RefusedError(400, "Connections are not upgraded: WebSockets are refused.")
        if method in ("GET", "HEAD") and scope["path"] in self.shell:
            return
        if not secrets.compare_digest(self._one(scope, b"authorization").encode(), f"Bearer {self.token}".encode()):
            raise RefusedError(401, "The token is missing or wrong: open the URL that cogmap workbench printed.")
        if method == "POST" and not origin:
            raise RefusedError(403, "The request does not say where it comes from (Origin).")
        if self._one(scope, b"sec-fetch-site") not in ("", "same-origin"):
            raise RefusedError(403, "Another site may not call the workbench.")
        length = self._one(scope, b"content-length")
        if length and (not length.isdecimal() or int(length[:20]) > LARGEST_BODY):
            raise _too_large()

    def _one(self, scope: Scope, name: bytes) -> str:
        """Return a header; empty where it is absent, and refuse one that is there twice."""
        values = [value for key, value in scope["headers"] if key.lower() == name]
        if len(values) > 1:
            raise RefusedError(400, f"The header {name.decode()} is there twice.")
        return values[0].decode("latin-1") if values else ""

    def _log(self, scope: Scope, reason: str) -> None:
        path = ascii(str(scope.get("path", "")).replace(self.token, "…")[:100])
        log.warning("refused %s %s: %s", ascii(scope.get("method", "websocket"))[:12], path, reason)


def _too_large() -> RefusedError:
    return RefusedError(413, f"The request is larger than {LARGEST_BODY >> 20} MB: send less.")


def _limited(receive: Receive) -> Receive:
    """Return `receive` that ends where the body becomes too large, whatever its length was said to be."""
    total = 0

    async def limited() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > LARGEST_BODY:
            raise _too_large()
        return message

    return limited


async def _refuse(send: Send, refused: RefusedError) -> None:
    body = json.dumps(failure("refused", refused.message)).encode()
    # The rest of what was sent is not read: the connection cannot be used again.
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
