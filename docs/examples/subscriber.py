"""A WebSub subscriber that prints what the hub sends: subscriber.py TOPIC CERTIFICATE KEY PORT.

TOPIC is the one that you subscribe to; everything else is not confirmed. The secret that you give
the hub is in $HUB_SECRET. CERTIFICATE and KEY are PEM files of this server.
"""

import hmac
import http.server
import os
import ssl
import sys
import urllib.parse

TOPIC, CERTIFICATE, KEY, PORT = sys.argv[1:]
SECRET = os.environ["HUB_SECRET"].encode()


class Callback(http.server.BaseHTTPRequestHandler):
    """Confirms subscriptions to the topic, and takes its content."""

    def do_GET(self) -> None:
        """The hub asks whether a request was ours: yes is to send the challenge back."""
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        shown = [query[name] for name in ("hub.mode", "hub.topic", "hub.reason") if name in query]
        print(*shown, flush=True)
        ours = query["hub.topic"] == TOPIC
        self.answer(200 if ours else 404, query.get("hub.challenge", ""))

    def do_POST(self) -> None:
        """New content. A wrong signature is answered 200 too: it is nothing to try again."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = "sha256=" + hmac.new(SECRET, body, "sha256").hexdigest()
        genuine = hmac.compare_digest(expected, self.headers.get("X-Hub-Signature", ""))
        print("new content" if genuine else "wrong signature", self.headers["ETag"], flush=True)
        self.answer(200, "")

    def answer(self, status: int, text: str) -> None:
        """Send a response of one line."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """No log of requests beside what is printed."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Callback)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"listening on port {PORT}", flush=True)
server.serve_forever()
