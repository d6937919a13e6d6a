"""The proxy configurations of docs/proxies, each in the real program before a real daemon.

The files are used as they are shipped; only ports, certificates and names of files are replaced.
"""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from reviewsd.http1 import urls
from tests.support.agents import INITIALIZE
from tests.support.authority import authority, client_context
from tests.support.daemon import BASE_URL, Daemon, free_port, until
from tests.support.mcp import MODERN, modern
from tests.support.programs import run_program
from tests.support.public_site import PublicSite

PROXIES = Path(__file__).parents[2] / "docs" / "proxies"
NAME = BASE_URL.partition("//")[2]
REQUESTS = 2
SETTINGS = f"""
server: {{trusted_proxies: ["127.0.0.1/32"]}}
hub: {{limits: {{requests_per_minute: {REQUESTS}}}}}
"""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def changed(name: str, changes: Mapping[str, str]) -> str:
    """A configuration as it is shipped, but for these places."""
    text = (PROXIES / name).read_text()
    for shipped, ours in changes.items():
        assert shipped in text, f"{name} no longer has {shipped}"
        text = text.replace(shipped, ours)
    return text


def nginx(place: Path, listen: int, daemon: int) -> list[str]:
    """The command that runs nginx in the foreground; the other functions are alike."""
    site = changed(
        "nginx.conf",
        {
            "listen 443": f"listen 127.0.0.1:{listen}",
            "listen [::]:443": f"listen [::1]:{listen}",
            "listen 80;": f"listen unix:{place}/plain.sock;",
            "    listen [::]:80;\n": "",
            "127.0.0.1:8080": f"127.0.0.1:{daemon}",
            f"/etc/letsencrypt/live/{NAME}/fullchain.pem": str(place / "server.pem"),
            f"/etc/letsencrypt/live/{NAME}/privkey.pem": str(place / "server.pem"),
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"    {kind}_temp_path {place / kind};\n" for kind in kinds)
    (place / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {place / 'pid'};\nerror_log stderr;\nevents {{}}\n"
        f"http {{\n    access_log off;\n{paths}{site}}}\n"
    )
    return ["nginx", "-p", str(place), "-e", "stderr", "-c", str(place / "nginx.conf")]


def caddy(place: Path, listen: int, daemon: int) -> list[str]:
    site = changed(
        "Caddyfile",
        {
            f"\n{NAME} {{\n": f"\nhttps://{NAME}:{listen} {{\n\tbind 127.0.0.1 [::1]\n\ttls {place}/server.pem {place}/server.pem\n",
            "127.0.0.1:8080": f"127.0.0.1:{daemon}",
        },
    )
    (place / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")]


def haproxy(place: Path, listen: int, daemon: int) -> list[str]:
    text = changed(
        "haproxy.cfg",
        {
            "bind :443,[::]:443": f"bind 127.0.0.1:{listen},[::1]:{listen}",
            f"/etc/haproxy/{NAME}.pem": str(place / "server.pem"),
            "127.0.0.1:8080": f"127.0.0.1:{daemon}",
        },
    )
    (place / "haproxy.cfg").write_text(text)
    return ["haproxy", "-db", "-f", str(place / "haproxy.cfg")]


@pytest.fixture(
    scope="module", params=[nginx, caddy, haproxy], ids=lambda program: program.__name__
)
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PublicSite]:
    configure: Callable[[Path, int, int], list[str]] = request.param
    name = configure.__name__
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed (Debian: apt install {name})")
    place = tmp_path_factory.mktemp(name)
    authority().issue(NAME).write_with_key(place / "server.pem")
    with Daemon(tmp_path_factory.mktemp("daemon"), SETTINGS) as daemon:
        port = free_port()
        log = place / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                configure(place, port, daemon.port),
                cwd=place,
                env={**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place)},
                stdout=output,
                stderr=output,
            )
        try:
            running = PublicSite(NAME, port, client_context())
            until(lambda: running.serves() or process.poll() is not None, f"{name} that serves")
            assert process.poll() is None, log.read_text()
            yield running
            assert [] == [line for line in daemon.unusual if "notify" not in line]
        finally:
            process.terminate()
            process.wait(10)


def test_proxy_listens_on_ipv6_too(proxy: PublicSite) -> None:
    """A name has an AAAA record where the server has an IPv6 address."""
    with socket.create_connection(("::1", proxy.address[1]), 10):
        pass


@pytest.mark.parametrize("document", ["README.md", "docs/how-to/proxy.md"])
def test_nginx_takes_the_block_of_a_document_as_pasted(tmp_path: Path, document: str) -> None:
    """The block goes into a server of the operator's own, which has no upstream of our name."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed (Debian: apt install nginx)")
    text = (PROXIES.parents[1] / document).read_text()
    pasted = text.partition("```nginx\n")[2].partition("```")[0]
    assert "proxy_pass http://127.0.0.1:8080;" in pasted
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; server {{ listen 127.0.0.1:80;\n{pasted}}} }}\n"
    )
    tested = run_program(["nginx", "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(config)])
    assert 0 == tested.returncode, tested.stderr


def test_reads_come_through_as_they_are(proxy: PublicSite) -> None:
    answer = proxy.request("GET", urls.JSON_FEED)
    assert 200 == answer.status
    assert f"{BASE_URL}{urls.JSON_FEED}" == answer.json()["feed_url"]
    tag = answer.headers["ETag"]
    again = proxy.request("GET", urls.JSON_FEED, {"If-None-Match": tag})
    assert (304, b"", tag) == (again.status, again.body, again.headers["ETag"])
    packed = proxy.request("GET", urls.REVIEWS, {"Accept-Encoding": "gzip"})
    assert (200, "gzip") == (packed.status, packed.headers["Content-Encoding"])
    refused = proxy.request("GET", f"{urls.SEARCH}?rating=great")
    assert (400, ["rating"]) == (refused.status, refused.json()["issues"][0]["path"])


def test_agents_come_through(proxy: PublicSite) -> None:
    opened = proxy.request("POST", urls.MCP, JSON, json.dumps(INITIALIZE).encode())
    session = {**JSON, "Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    listed = proxy.request("POST", urls.MCP, session, json.dumps(call).encode())
    assert "search_reviews" in {tool["name"] for tool in listed.json()["result"]["tools"]}
    ended = proxy.request("DELETE", urls.MCP, session)
    assert 204 == ended.status
    assert 404 == proxy.request("POST", urls.MCP, session, json.dumps(call).encode()).status


def test_events_come_through_at_once(proxy: PublicSite) -> None:
    """A proxy that held them back would keep the first one for as long as the stream lasts."""
    method = "subscriptions/listen"
    fields = {**JSON, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    message = modern(method, notifications={"resourceSubscriptions": [BASE_URL + urls.REVIEWS]})
    answer = proxy.first_bytes(urls.MCP, fields, json.dumps(message).encode())
    assert (200, "text/event-stream") == (answer.status, answer.headers["Content-Type"])
    assert answer.body.startswith(b'data: {"jsonrpc":"2.0","method":"notifications/subscriptions/')


def test_subscribers_come_through_and_each_client_has_its_own_limit(proxy: PublicSite) -> None:
    """An X-Forwarded-For that the client sends gives it no other limit."""
    form = b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=http://subscriber.example/"
    for client in ("127.0.0.3", "127.0.0.4"):
        answers = [
            proxy.request(
                "POST", urls.HUB, {**FORM, "X-Forwarded-For": f"198.51.100.{number}"}, form, client
            )
            for number in range(REQUESTS + 1)
        ]
        assert [*REQUESTS * [400], 429] == [answer.status for answer in answers], client
        assert b"hub.callback: the callback must begin with https://\n" == answers[0].body


def test_another_name_is_not_served(proxy: PublicSite) -> None:
    """Host reaches the daemon, which refuses names that it does not know; Caddy answers itself."""
    answer = proxy.request("GET", urls.REVIEWS, {"Host": "other.example.com"})
    assert 421 == answer.status or b"" == answer.body
