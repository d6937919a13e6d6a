"""A service that notices are sent to: what apprise's ``json://`` addresses expect, on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


class NotifiedService:
    """Runs from entering to leaving; ``messages`` has what arrived, in its order."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.status = 200
        """The status of each response."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.messages.append(json.loads(body))
                self.send_response(service.status)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def address(self) -> str:
        """Its address for apprise, with a password and a token."""
        return f"json://user:Password@127.0.0.1:{self._server.server_port}/Token"

    @property
    def titles(self) -> list[str]:
        return [message["title"] for message in self.messages]

    def write_address(self, file: Path) -> None:
        """Write its address into a file that only its owner may read."""
        file.write_text(f"# the owner's\n{self.address}\n")
        file.chmod(0o600)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
