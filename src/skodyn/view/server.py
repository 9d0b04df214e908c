"""The page on a loopback address: nobody but this machine can reach it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from skodyn.errors import SkodynError

__all__ = ["LOOPBACK", "Talk", "page_server"]

LOOPBACK = "127.0.0.1"
_LONGEST = 10_000  # bytes of a message


class Talk(Protocol):
    """What a page that lives has besides: events for it, and what it says."""

    def events(self) -> Iterator[str]:
        """Texts for one page, until there are no more."""

    def take(self, message: Any) -> str:
        """A message of a page; what is wrong with it, or nothing."""


class _Handler(BaseHTTPRequestHandler):
    page: Callable[[], str]
    talk: Talk | None = None

    def do_GET(self) -> None:
        if not self._meant_for_us():
            return
        if self.path == "/events" and self.talk is not None:
            self._stream(self.talk)
        elif self.path != "/":
            self._answer(404, "There is one page: /")
        else:
            try:
                self._answer(200, type(self).page(), "text/html")
            except SkodynError as error:
                self._answer(500, str(error))

    def do_POST(self) -> None:
        """What the page says. JSON alone: a form of another site cannot send it unasked."""
        if not self._meant_for_us():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/control" or self.talk is None:
            self._answer(404, "Messages are not taken at this address.")
        elif self.headers.get("Content-Type") != "application/json":
            self._answer(415, "Send application/json.")
        elif not length.isdigit() or int(length) > _LONGEST:
            self._answer(413, "The message has no length, or is too long.")
        else:
            try:
                said = json.loads(self.rfile.read(int(length)))
            except ValueError:
                self._answer(400, "The message is not JSON.")
                return
            wrong = self.talk.take(said)
            self._answer(400 if wrong else 200, wrong)

    def _meant_for_us(self) -> bool:
        """Was it asked for under a name of this machine, and by no other site?"""
        own = (LOOPBACK, "localhost")
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        origin = self.headers.get("Origin", "http://localhost").split("://")[-1].rsplit(":", 1)[0]
        if host in own and origin in own:
            return True
        self._answer(403, "Only requests to 127.0.0.1 are answered.")
        return False

    def _stream(self, talk: Talk) -> None:
        """Server-sent events, as browsers know them."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        try:
            for text in talk.events():
                self.wfile.write(f"data: {text}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass  # the page was closed

    def _answer(self, code: int, text: str, kind: str = "text/plain") -> None:
        data = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the terminal is for results."""


def page_server(
    page: Callable[[], str], port: int = 0, talk: Talk | None = None
) -> ThreadingHTTPServer:
    """A server that makes the page anew for each request, so that reloading shows a run's
    latest rows. port 0: any free one. Call `serve_forever` on it."""
    if not 0 <= port < 65536:
        raise SkodynError(f"Port {port} does not exist; give a number from 0 to 65535.")
    handler = type("Handler", (_Handler,), {"page": staticmethod(page), "talk": talk})
    try:
        return ThreadingHTTPServer((LOOPBACK, port), handler)
    except (OSError, OverflowError) as error:
        raise SkodynError(f"Port {port} cannot be used ({error}); choose another one.") from error
