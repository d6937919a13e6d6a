"""Tests of ``base_url`` as clients use it: name, certificate, proxy and answers."""

import http.client
import ipaddress
import re
import socket
import ssl
import time
from typing import Final
from urllib.parse import urlsplit

from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsd.api.texts import counted

SECONDS: Final = 3.0  # to wait for a connection, and for an answer
FEED: Final = "/api/feed.json"
HUB: Final = "/api/websub/hub"

_EXPIRED: Final = 10  # X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL
_OTHER_NAME: Final = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
_UNTRUSTED: Final = "certificate verify failed"
_SOON: Final = 14  # days before the end of a certificate that warn
_LINK: Final = re.compile(r'<([^<>]*+)>\s*+;\s*+rel="?([a-z-]++)"?')
_LOCAL: Final = ("interface=127.", r"interface=\:\:1", "tcp:127.", "tcp:[::1]")
"""Beginnings of loopback endpoints, in the configuration and in the status of a daemon."""
_MAX_HEAD: Final = 65_536  # bytes of a body that are read at once


def resolves(base_url: str) -> Diagnosis:
    """Test whether the name resolves, to an address outside this machine."""
    host, port = _host(base_url), _port(base_url)
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as fault:
        return fail(f"{host} does not resolve: {fault.strerror}", "Add it to the DNS.")
    addresses = sorted({str(answer[4][0]) for answer in answers})
    detail = host if addresses == [host] else f"{host} is {', '.join(addresses)}"
    if any(ipaddress.ip_address(text.partition("%")[0]).is_loopback for text in addresses):
        remedy = "To publish it, set base_url to its public address."
        return warn(f"{detail}: this machine only", remedy)
    return ok(detail)


def certificate(base_url: str, now: float) -> Diagnosis:
    """Test whether clients trust the certificate, and for how long."""
    if urlsplit(base_url).scheme != "https":
        remedy = "Put a proxy that speaks TLS in front, and https in base_url."
        return warn(f"{base_url} is not https", remedy)
    host, port = _host(base_url), _port(base_url)
    try:
        with (
            socket.create_connection((host, port), SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
        ):
            peer, version = secure.getpeercert() or {}, secure.version()
    except ssl.SSLCertVerificationError as fault:
        return fail(f"{host}: {fault.verify_message}", _untrusted(fault, host))
    except OSError as fault:
        return fail(f"{host}:{port}: {_reason(fault)}", "Is the proxy running, the port open?")
    days = int((ssl.cert_time_to_seconds(str(peer["notAfter"])) - now) / 86_400)
    detail = f"{version}, the certificate of {host} ends in {counted(days, 'day')}"
    if days < _SOON:
        return warn(detail, "Renew it, and check the automatic renewal.")
    return ok(detail)


def _untrusted(fault: ssl.SSLCertVerificationError, host: str) -> str:
    """Return the remedy for a certificate that is not trusted."""
    if fault.verify_code == _EXPIRED:
        return "Renew it, and check the automatic renewal."
    if fault.verify_code in _OTHER_NAME:
        return f"Get one for {host}, or correct base_url."
    return (
        "Have the proxy send the whole chain (fullchain.pem). If it is of your own authority: "
        "SSL_CERT_FILE=ca.pem reviewsctl doctor"
    )


def answers(base_url: str) -> Diagnosis:
    """Test whether this service answers at the address, with this address in its links."""
    response = fetch(base_url + FEED)
    if isinstance(response, str) and _UNTRUSTED in response:
        return skip("the certificate is not trusted")
    if isinstance(response, str):
        return fail(f"{base_url}{FEED}: {response}", "Is the daemon running, and the proxy?")
    if response.status != http.client.OK:
        remedy = "Make the proxy pass all paths, and the Host header as it is, to the daemon."
        return fail(f"{base_url}{FEED} is {response.status}", remedy)
    links = {
        relation: target
        for line in response.headers.get_all("Link", [])
        for target, relation in _LINK.findall(line)
    }
    for relation, path in (("self", FEED), ("hub", HUB)):
        if links.get(relation) != base_url + path:
            detail = f'rel="{relation}" is {links.get(relation, "missing")}, not {base_url}{path}'
            remedy = "Set base_url to the address that clients use, then restart the daemon."
            return fail(detail, remedy)
    return ok(f"this service answers at {base_url}, and its links agree")


def proxy(
    base_url: str,
    listen: tuple[str, ...],
    trusted: tuple[str, ...],
    running: tuple[str, ...] = (),
) -> Diagnosis:
    """Test whether the daemon knows the addresses of clients behind a proxy.

    Args:
        base_url: The public address.
        listen: The configured endpoints, which show TLS and the PROXY protocol.
        trusted: The networks of ``server.trusted_proxies``.
        running: The endpoints of the running daemon, with the addresses it listens on.
    """
    if urlsplit(base_url).scheme != "https" or any("ssl:" in endpoint for endpoint in listen):
        return ok("this base_url needs none")
    loopback = all(map(_is_loopback, trusted))
    if any(endpoint.startswith("haproxy:") for endpoint in listen):
        return ok("the PROXY protocol carries the address of the client")
    tcp = [endpoint for endpoint in (running or listen) if endpoint.startswith("tcp")]
    outside = [endpoint for endpoint in tcp if not any(local in endpoint for local in _LOCAL)]
    if outside and loopback:
        detail = f"{outside[0]} is open to other machines, and only this one is a trusted proxy"
        remedy = (
            "If the proxy runs elsewhere, name its network in server.trusted_proxies, else all "
            "clients count as one. If it runs here, listen on 127.0.0.1."
        )
        return warn(detail, remedy)
    return ok(f"X-Forwarded-For is trusted from {', '.join(trusted) or 'no address'}")


def outbound(host: str) -> Diagnosis:
    """Test whether this machine can open https connections, as deliveries do."""
    try:
        with (
            socket.create_connection((host, 443), SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
        ):
            return ok(f"{host} answers with {secure.version()}")
    except OSError as fault:
        remedy = "The hub delivers by https: allow it in the firewall, and install CA certificates."
        return warn(f"{host}: {_reason(fault)}", remedy)


def fetch(url: str) -> http.client.HTTPResponse | str:
    """Send a GET, and return the response with its body, or the reason why there is none."""
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
        return _reason(fault)
    finally:
        connection.close()
    return response


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_loopback(network: str) -> bool:
    return ipaddress.ip_network(network, strict=False).is_loopback


def _reason(fault: Exception) -> str:
    return str(getattr(fault, "strerror", None) or fault) or type(fault).__name__
