"""Serves the page: on this machine only, to read only, and nothing but what is named here.

    /                     the page; /page.js and /page.css belong to it
    /figures              what the query does, as JSON
    /line?key=&column=&width=   the line of a key

Paths are looked up in a table and never joined to a folder: no request reaches another file.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from windrow.cli.page.watched import Watched
from windrow.errors import InvalidArgument, WindrowError

_HOST = "127.0.0.1"
#: names of this machine: another site's name that leads here is refused
_NAMES = (_HOST, "localhost")
_FILES = {
    "/": ("index.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
_WIDTHS = range(50, 5_000)
#: the page loads its own files and asks this server; nothing else, and no site may frame it
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class PageServer(ThreadingHTTPServer):
    """Serves the page of a query on a port of this machine; 0 takes any that is free."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, watched: Watched, port: int = 0) -> None:
        self.watched = watched
        try:
            super().__init__((_HOST, port), _Handler)
        except OSError as error:
            raise WindrowError(f"--port {port}: {error.strerror}; give another") from error

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_HOST}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that was closed while it was answered is no error to print."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "windrow", ""
    timeout = 30

    def do_GET(self) -> None:
        """Answer a request."""
        if self.headers.get("Host", "").partition(":")[0] not in _NAMES:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"ask for 127.0.0.1 or localhost\n")
            return
        address = urlsplit(self.path)
        if address.path in _FILES:
            name, kind = _FILES[address.path]
            self._send(HTTPStatus.OK, kind, files(__package__).joinpath(name).read_bytes())
        elif address.path == "/figures":
            self._send_json(self.server.watched.figures())
        elif address.path == "/line":
            self._send_line(parse_qs(address.query))
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such page\n")

    def do_HEAD(self) -> None:
        """Answer with the headers alone."""
        self.do_GET()

    def _send_line(self, asked: dict[str, list[str]]) -> None:
        try:
            key, column = asked["key"][0], asked["column"][0]
            width = int(asked["width"][0])
        except (KeyError, ValueError):
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", b"give key=, column= and width=\n")
            return
        width = min(max(width, _WIDTHS.start), _WIDTHS.stop)
        try:
            points = self.server.watched.line(key, column, width)
        except InvalidArgument as error:
            self._send_json({"problem": str(error), "points": []})
        else:
            self._send_json({"key": key, "column": column, "points": points})

    def _send_json(self, value: Any) -> None:
        self._send(HTTPStatus.OK, "application/json", json.dumps(value, default=str).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """What every answer says, errors too."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Requests are not printed."""
