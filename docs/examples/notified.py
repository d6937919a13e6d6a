"""Prints the notices of reviewsd: notified.py PORT.

A service to try notices with, at the address json://127.0.0.1:PORT/ of the same machine.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Notified(BaseHTTPRequestHandler):
    """Answers what apprise sends to a json:// address."""

    def do_POST(self) -> None:
        """Print a message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(message["title"], message["message"], sep="\n", flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Log no requests."""


HTTPServer(("127.0.0.1", int(sys.argv[1])), Notified).serve_forever()
