"""Everything that a daemon does, once: for tests that look at what it leaves behind."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support import subscriber as hub
from tests.support.agents import INITIALIZE
from tests.support.daemon import Daemon, until
from tests.support.generate import write_data
from tests.support.subscriber import LoggedRequest, Reply, Subscriber, good

SECRET = "canary-of-the-secret"
TOKEN = "canary-of-the-verify-token"
PATH = "/canary-of-the-path"
QUERY = "token=canary-of-the-query"
FAILING = f"{PATH}/failing"
GONE = f"{PATH}/gone"
DENIED = f"{PATH}/denied"

HEADERS = {
    "Authorization": "Bearer canary-of-the-authorization",
    "Cookie": "session=canary-of-the-cookie",
}


def replies(request: LoggedRequest) -> Reply | None:
    """Respond as a callback; the path selects the way in which its subscription ends."""
    if request.path == DENIED:
        return 404, b"I never asked for this"
    if request.method == "POST" and request.path == FAILING:
        return 500, b"out of order"
    if request.method == "POST" and request.path == GONE:
        return 410, b""
    return good(request)


@dataclass
class Conversation:
    """Sends secrets to a daemon and collects its answers, which must not contain them."""

    daemon: Daemon
    subscriber: Subscriber
    session: str = ""
    answers: list[bytes] = field(default_factory=list)
    """Bodies of answers to clients, errors among them."""

    @property
    def canaries(self) -> Mapping[str, str]:
        """The secrets, by their kind."""
        return {
            "hub.secret": SECRET,
            "hub.verify_token": TOKEN,
            "a callback's path": PATH,
            "a callback's query": QUERY,
            "an Authorization header": HEADERS["Authorization"].split()[1],
            "a cookie": HEADERS["Cookie"].partition("=")[2],
            "a session id": self.session,
        }

    def live(self) -> None:
        """Make all requests."""
        self._read()
        self._call()
        self._refuse()
        self._subscribe()

    def _ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> int:
        answer = self.daemon.request(method, path, {**HEADERS, **(headers or {})}, body)
        self.answers.append(answer.body)
        return answer.status

    def _read(self) -> None:
        assert 200 == self._ask("GET", "/reviews.json")
        assert 200 == self._ask("GET", "/api/reviews/search?query=boiler")
        assert 404 == self._ask("GET", "/nothing")
        assert 400 == self._ask("GET", "/%ff")
        assert 400 == self._ask("GET", "/api/reviews/search?rating=9")

    def _call(self) -> None:
        """Begin, use and end a session of MCP."""
        media = {"Content-Type": "application/json", **HEADERS}
        answer = self.daemon.request("POST", "/mcp", media, json.dumps(INITIALIZE).encode())
        assert 200 == answer.status
        self.session = str(answer.headers["Mcp-Session-Id"])
        named = {**media, "Mcp-Session-Id": self.session}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_faq"}}
        assert 200 == self._ask("POST", "/mcp", json.dumps(call).encode(), named)
        assert 400 == self._ask("POST", "/mcp", b"{", named)
        assert 204 == self._ask("DELETE", "/mcp", headers=named)
        assert 404 == self._ask("POST", "/mcp", json.dumps(call).encode(), named)

    def _refuse(self) -> None:
        """Request subscriptions that the hub refuses, each for another reason."""
        tail = f"{PATH}?{QUERY}"
        for origin in ("http://a.example.com", "https://10.0.0.1", "https://u:p@a.example.com"):
            answer = hub.ask(self.daemon, origin + tail, secret=SECRET)
            assert answer.status in {400, 403}
            self.answers.append(answer.body)
        answer = hub.ask(self.daemon, "https://a.example.com" + tail, topic=f"/nope{tail}")
        assert 400 <= answer.status < 500
        self.answers.append(answer.body)

    def _subscribe(self) -> None:
        """Request subscriptions that are served, fail, are gone or are not confirmed."""
        hub.until_open(self.daemon)
        for path in (PATH, FAILING, GONE, DENIED):
            url = self.subscriber.url(f"{path}?{QUERY}")
            answer = hub.ask(self.daemon, url, secret=SECRET, verify_token=TOKEN)
            assert 202 == answer.status
            self.answers.append(answer.body)
        until(lambda: self.subscriber.gets("subscribe", DENIED), "the unwanted verification")
        until(lambda: hub.hub(self.daemon)["active"] == 3, "the subscriptions")
        write_data(self.daemon.data, reviews=200)
        self.subscriber.until_deliveries(1, PATH)
        self.subscriber.until_deliveries(3, FAILING)
        until(lambda: hub.hub(self.daemon)["active"] == 1, "the end of those that fail")
        until(lambda: self.subscriber.gets("denied", FAILING), "the denial")
