"""What clients find at ``base_url``: the name, the certificate, the proxy, our own answers."""

import http.client
import ipaddress
import re
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsctl.terminal.words import counted

SECONDS: Final = 3.0  # for each connection, and each answer
FEED: Final = "/api/feed.json"
HUB: Final = "/api/websub/hub"

_SOON: Final = 14  # days before its end at which a certificate is mentioned
_LINK: Final = re.compile(r'<([^<>]*+)>\s*+;\s*+rel="?([a-z-]++)"?')
_LOCAL: Final = ("interface=127.", r"interface=\:\:1", "tcp:127.", "tcp:[::1]")
"""In a loopback address, as the configuration has it, and as a running daemon does."""
_MAX_HEAD: Final = 65_536  # bytes of a body that are read, to be done with it


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer."""

    status: int
    headers: http.client.HTTPMessage


def resolves(base_url: str) -> Diagnosis:
    """Whether the name has an address, and one that others can reach."""
    name = "address"
    host, port = _host(base_url), _port(base_url)
    try:
        found = {
            str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        }
    except OSError as fault:
        return fail(name, f"{host} does not resolve: {fault.strerror}", "Add it to the DNS.")
    shown = f"{host} is {', '.join(sorted(found))}"
    if any(ipaddress.ip_address(each.partition("%")[0]).is_loopback for each in found):
        remedy = "Before others are to reach it, set base_url to its public address."
        return warn(name, f"{shown}: this machine only", remedy)
    return ok(name, shown)


def certificate(base_url: str, now: float) -> Diagnosis:
    """Whether clients can trust the address, and how long."""
    name = "tls"
    if urlsplit(base_url).scheme != "https":
        remedy = "Put a proxy that speaks TLS in front, and https in base_url."
        return warn(name, f"{base_url} is not https", remedy)
    host, port = _host(base_url), _port(base_url)
    try:
        with (
            socket.create_connection((host, port), SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
        ):
            peer, version = secure.getpeercert() or {}, secure.version()
    except ssl.SSLCertVerificationError as fault:
        return fail(name, f"{host}: {fault.verify_message}", "Renew or complete the certificate.")
    except OSError as fault:
        return fail(name, f"{host}:{port}: {_why(fault)}", "Is the proxy running, the port open?")
    days = int((ssl.cert_time_to_seconds(str(peer["notAfter"])) - now) / 86_400)
    said = f"{version}, the certificate of {host} ends in {counted(days, 'day')}"
    if days < _SOON:
        return warn(name, said, "Renew it; see that this happens by itself.")
    return ok(name, said)


def answers(base_url: str) -> Diagnosis:
    """Whether what answers at the address is this service, with this address in its links."""
    name = "answers"
    found = fetch(base_url + FEED)
    if isinstance(found, str):
        return fail(name, f"{base_url}{FEED}: {found}", "Is the daemon running, and the proxy?")
    if found.status != http.client.OK:
        remedy = "See that the proxy passes all paths to the daemon."
        return fail(name, f"{base_url}{FEED} is {found.status}", remedy)
    links = {
        relation: target
        for line in found.headers.get_all("Link", [])
        for target, relation in _LINK.findall(line)
    }
    for relation, path in (("self", FEED), ("hub", HUB)):
        if links.get(relation) != base_url + path:
            said = f'rel="{relation}" is {links.get(relation, "missing")}, not {base_url}{path}'
            remedy = "Set base_url to the address that clients use, then restart the daemon."
            return fail(name, said, remedy)
    return ok(name, f"{base_url} is ours, hub and self links agree with it")


def agents(base_url: str) -> Diagnosis:
    """Whether the MCP endpoint lets clients in that come by the public name."""
    name = "mcp"
    found = fetch(f"{base_url}/mcp")
    if isinstance(found, str):
        return skip(name, found)
    if found.status in {http.client.FORBIDDEN, http.client.MISDIRECTED_REQUEST}:
        remedy = "Have the proxy pass the Host header on, or name it in server.allowed_hosts."
        return fail(name, f"{base_url}/mcp refuses the host it is asked by", remedy)
    if found.status == http.client.METHOD_NOT_ALLOWED:  # a GET is; a POST would be taken
        return ok(name, f"{base_url}/mcp lets clients in")
    remedy = "See that the proxy passes /mcp to the daemon."
    return fail(name, f"{base_url}/mcp is {found.status}", remedy)


def proxy(
    base_url: str,
    listen: tuple[str, ...],
    trusted: tuple[str, ...],
    running: tuple[str, ...] = (),
) -> Diagnosis:
    """Whether clients can be told apart: a proxy says in X-Forwarded-For who they are.

    Args:
        base_url: As clients see it.
        listen: What is configured, which alone tells TLS and the PROXY protocol.
        trusted: Networks of proxies.
        running: Where a daemon that answers listens; it knows the addresses better.
    """
    name = "proxy"
    if urlsplit(base_url).scheme != "https" or any("ssl:" in each for each in listen):
        return ok(name, "none is needed for this base_url")
    loopback = all(_is_loopback(each) for each in trusted)
    if any(each.startswith("haproxy:") for each in listen):
        return ok(name, "the proxy says by the PROXY protocol who the client is")
    tcp = [each for each in (running or listen) if each.startswith("tcp")]
    outside = [each for each in tcp if not any(local in each for local in _LOCAL)]
    if outside and loopback:
        said = f"{outside[0]} is open to other machines, and only this one is a trusted proxy"
        remedy = (
            "If the proxy runs elsewhere, name its network in server.trusted_proxies: all clients "
            "count as one otherwise. If it runs here, listen on 127.0.0.1."
        )
        return warn(name, said, remedy)
    return ok(name, f"X-Forwarded-For is believed from {', '.join(trusted) or 'nobody'}")


def outbound(host: str) -> Diagnosis:
    """Whether this machine can open https connections, as deliveries do."""
    name = "outbound https"
    try:
        with (
            socket.create_connection((host, 443), SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
        ):
            return ok(name, f"{host} answers with {secure.version()}")
    except OSError as fault:
        remedy = (
            "The hub delivers by https: let it out, and see that CA certificates are installed."
        )
        return warn(name, f"{host}: {_why(fault)}", remedy)


def fetch(url: str) -> Fetched | str:
    """A GET, or why there is no answer."""
    parts = urlsplit(url)
    host, port = _host(url), _port(url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    ends = time.monotonic() + SECONDS
    try:
        connection.request("GET", parts.path, headers={"User-Agent": "reviewsctl-doctor"})
        response = connection.getresponse()
        while response.read(_MAX_HEAD) and time.monotonic() < ends:
            pass
    except (OSError, http.client.HTTPException) as fault:
        return _why(fault)
    finally:
        connection.close()
    return Fetched(response.status, response.headers)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_loopback(network: str) -> bool:
    return ipaddress.ip_network(network, strict=False).is_loopback


def _why(fault: Exception) -> str:
    return str(getattr(fault, "strerror", None) or fault) or type(fault).__name__
