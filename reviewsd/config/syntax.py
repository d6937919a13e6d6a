"""The grammar of strings in the configuration: origins, endpoints, networks.

Each function returns the value of a string, or raises ``ValueError`` with a reason for the operator: what was
expected, what was found, and the likely remedy.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from twisted.internet.endpoints import serverFromString
from twisted.internet.interfaces import IStreamServerEndpointStringParser
from twisted.plugin import getPlugins

from reviewsd.api.spelling import nearest
from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import HTTPS_PORT, MAX_PORT
from reviewsd.domain.data_errors import show

_DEFAULT_PORTS = {"http": 80, "https": HTTPS_PORT}

# RFC 3986 appendix B, and the hosts that work in a URL without any encoding
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<rest>([?#].*)?)",
    re.DOTALL,
)
_AUTHORITY = re.compile(
    r"(?P<host>[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:(?P<port>.*))?",
    re.ASCII | re.DOTALL,
)

_ENDPOINT = 'expected an endpoint such as "tcp:8080:interface=127.0.0.1" or "systemd:name=http"'
_BUILT_IN = {"tcp", "unix", "ssl"}
# The options of the endpoints that Twisted checks here: ssl would read its files, others are plugins
_OPTIONS = {
    "tcp": ("port", "interface", "backlog"),
    "tcp6": ("port", "interface", "backlog"),
    "unix": ("address", "mode", "backlog", "lockfile"),
}
_TCP = re.compile(r"(?P<kind>tcp6?):(?:port=)?(?P<port>[0-9]{1,5})(:.*)?", re.ASCII)
_FAMILY = "domain=(INET6?|UNIX)"
_INHERITED = re.compile(
    rf"({_FAMILY}:)?(name=[^:=]+|index=[0-9]+)(:{_FAMILY})?", re.ASCII
)  # the daemon adds a missing domain

# PostgreSQL 15, 34.1.1.2. Stricter than libpq, which takes a part of an unencoded password for a host or
# a port, and has it in its errors
_HOST = r"([a-z0-9._%-]*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?"
_DATABASE = re.compile(
    rf"postgresql://([^\s:/?#@]+(:[^\s:/?#@]*)?@)?{_HOST}(,{_HOST})*/[^\s:/?#@]+(\?[^\s#]*)?",
    re.ASCII | re.IGNORECASE,
)

_CONTACTS = ("mailto:", "https://", "tel:")


def origin(text: str, *, any_scheme: bool = False) -> str:
    """Return an origin in normal form: lower case, no default port, no trailing slash.

    Args:
        text: The value in the file.
        any_scheme: Whether it may be the origin of an app, such as ``app://obsidian.md``.
    """
    if "@" in text:
        raise ValueError("must not contain a user name or password")
    parts = _URL.fullmatch(text)
    if parts is None or not (any_scheme or parts["scheme"].lower() in _DEFAULT_PORTS):
        raise ValueError(f'expected an address such as "https://example.com", got {show(text)}')
    if parts["rest"]:
        raise ValueError(f"must not have a query or fragment, got {show(text)}")
    if parts["path"] not in ("", "/"):
        raise ValueError(
            f"must not have a path: all addresses start at the origin, got {show(text)}"
        )
    scheme = parts["scheme"].lower()
    authority = _AUTHORITY.fullmatch(parts["authority"].lower())
    if authority is None or not _is_host(authority["host"]):
        hint = "" if text.isascii() else "; write a name with other letters as xn--..."
        raise ValueError(f"expected a host name or address after //, got {show(text)}{hint}")
    if authority["port"] is None:
        return f"{scheme}://{authority['host']}"
    digits = authority["port"]
    port = int(digits) if digits.isdecimal() and len(digits) <= len(str(MAX_PORT)) else 0
    if not 0 < port <= MAX_PORT:
        raise ValueError(f"expected a port of 1..{MAX_PORT}, got {show(digits)}")
    suffix = "" if port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{authority['host']}{suffix}"


def _is_host(text: str) -> bool:
    """Return whether brackets hold an IPv6 address, and single dots separate labels."""
    if text.startswith("["):
        try:
            IPv6Address(text[1:-1])
        except ValueError:
            return False
        return True
    return ".." not in text


def host_or_any(text: str) -> str:
    """Return a host in lower case, without a port and a final dot; or ``*`` for all."""
    if text == "*":
        return text
    parts = _AUTHORITY.fullmatch(text.lower().removesuffix("."))
    if parts is None or parts["port"] is not None or not _is_host(parts["host"]):
        has_port = parts is not None and (parts["port"] or "").isdecimal()
        hint = "; leave the port out" if has_port else ""
        raise ValueError(f'expected a host such as "reviews.internal", got {show(text)}{hint}')
    return parts["host"]


def origin_or_any(text: str) -> str:
    """Return an origin of any scheme, or ``*`` for all."""
    return text if text == "*" else origin(text, any_scheme=True)


def endpoint(text: str) -> str:
    """Return a Twisted server endpoint, checked as far as possible without opening it (O5)."""
    inner = text.removeprefix("haproxy:")  # the PROXY protocol, around any other
    kind, colon, rest = inner.partition(":")
    plugins = {parser.prefix for parser in getPlugins(IStreamServerEndpointStringParser)}
    kinds = sorted(plugins - {"haproxy"} | _BUILT_IN)
    if not colon or kind not in kinds:
        raise ValueError(f"{_ENDPOINT}, got {show(text)}{nearest(kind, kinds)}")
    if kind == "systemd" and _INHERITED.fullmatch(rest) is None:
        raise ValueError(
            'expected "systemd:name=NAME" with the FileDescriptorName= of the socket unit,'
            f" got {show(text)}"
        )
    if kind in _OPTIONS:
        port = _TCP.fullmatch(inner)
        if kind != "unix" and (port is None or int(port["port"]) > MAX_PORT):
            raise ValueError(f"expected a port of 0..{MAX_PORT} after {kind}:, got {show(text)}")
        try:
            serverFromString(object(), inner)
        except (TypeError, ValueError, RuntimeError) as error:  # its parsers raise any of them
            options = [part.partition("=")[0] for part in rest.split(":") if "=" in part]
            unknown = next((name for name in options if name not in _OPTIONS[kind]), None)
            if unknown is None:
                raise ValueError(f"{_ENDPOINT}, got {show(text)}") from error
            hint = nearest(unknown, _OPTIONS[kind]) or f"; there are: {', '.join(_OPTIONS[kind])}"
            raise ValueError(f"unknown option {show(unknown)} in {show(text)}{hint}") from error
    return text


def own_endpoint(base_url: str) -> str | None:
    """Return the endpoint of an origin on this machine; None where a proxy has to be before the daemon."""
    parts = urlsplit(base_url)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if parts.scheme != "http" or not address.is_loopback:
        return None
    kind = "tcp" if address.version == 4 else "tcp6"  # noqa: PLR2004  # the protocol's number
    interface = str(address).replace(":", "\\:")
    return f"{kind}:{parts.port or _DEFAULT_PORTS['http']}:interface={interface}"


def other_ports(base_url: str, endpoints: Sequence[str]) -> set[int]:
    """Return the ports of the endpoints, if the host is this machine and its port is none of them.

    Behind a proxy the base URL has another host, or https, and its port says nothing.
    """
    tcp = (_TCP.fullmatch(endpoint_.removeprefix("haproxy:")) for endpoint_ in endpoints)
    ports = {int(match["port"]) for match in tcp if match is not None}
    port = urlsplit(base_url).port or _DEFAULT_PORTS["http"]
    return set() if own_endpoint(base_url) is None or ports & {0, port} else ports


def store(text: str) -> str:
    """Return the store of the hub. A refused value is not shown, since it may hold a password."""
    if text != "sqlite" and _DATABASE.fullmatch(text) is None:
        raise ValueError('expected "sqlite" or a URL such as "postgresql://host/database"')
    return text


def network(text: str) -> IPv4Network | IPv6Network:
    """Return an IP network in CIDR form; a single address is a network of one."""
    try:
        return ip_network(text)
    except ValueError:
        pass
    try:
        hint = f'; did you mean "{ip_network(text, strict=False)}"?'
    except ValueError:
        hint = ""
    raise ValueError(f'expected a network such as "10.0.0.0/8", got {show(text)}{hint}')


def nat64_prefix(text: str) -> IPv6Network:
    """Return the prefix of a NAT64 translator, with one of RFC 6052's lengths."""
    try:
        prefix = IPv6Network(text)
    except ValueError:
        expected = 'expected an IPv6 network such as "64:ff9b::/96"'
        raise ValueError(f"{expected}, got {show(text)}") from None
    Addresses(nat64_prefixes=[prefix])  # refuses other lengths
    return prefix


def contact(text: str) -> str:
    """Return the address for reports of vulnerabilities, with its scheme (RFC 9116 2.5.3)."""
    is_address = _is_line(text) and " " not in text and not text.endswith(("://", ":"))
    if not is_address or not text.startswith(_CONTACTS):
        hint = f'; write "mailto:{text}"' if "@" in text and ":" not in text else ""
        raise ValueError(
            f'expected an address such as "mailto:security@example.com" or "https://...", '
            f"got {show(text)}{hint}"
        )
    return text


def proof(text: str) -> str:
    """Return the proof of the domain for the MCP registry, a line of visible characters."""
    if not _is_line(text):
        raise ValueError(f'expected a line such as "v=MCPv1; k=ed25519; p=...", got {show(text)}')
    return text


def _is_line(text: str) -> bool:
    return text.isascii() and text.isprintable() and bool(text.strip())
