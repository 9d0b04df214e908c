"""The page on a loopback address: nobody but this machine can reach it."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from skodyn.errors import SkodynError

__all__ = ["LOOPBACK", "page_server"]

LOOPBACK = "127.0.0.1"


def page_server(page: Callable[[], str], port: int = 0) -> ThreadingHTTPServer:
    """A server that makes the page anew for each request, so that reloading shows a run's
    latest rows. port 0: any free one. Call `serve_forever` on it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers.get("Host", "").rsplit(":", 1)[0]
            if host not in (LOOPBACK, "localhost"):  # another site's name that leads here
                self._answer(403, "Ask for 127.0.0.1.")
            elif self.path != "/":
                self._answer(404, "There is one page: /")
            else:
                try:
                    self._answer(200, page(), "text/html")
                except SkodynError as error:
                    self._answer(500, str(error))

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

    try:
        return ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise SkodynError(f"Port {port} cannot be used ({error}); choose another one.") from error
