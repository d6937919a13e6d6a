"""The host names that are served, and the web pages that may call the service (mcp.md 7; S3).

Any page can make a browser send requests to this machine or its network. The browser sends the origin of the page
(Origin) and the name that it has resolved (Host). With DNS rebinding that is a foreign name, so a listener on
loopback checks both. Origins are compared as a whole, never by a part of their text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}

_HOST = r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:(?P<port>[0-9]{0,5}))?"
_SCHEME = r"(?P<scheme>[a-z][a-z0-9+.-]*)"
_ORIGIN = re.compile(rf"{_SCHEME}://{_HOST}(?<!:)", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(_HOST, re.ASCII | re.IGNORECASE)

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

ANY = "*"
"""Stands for all names, and for all origins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A web origin (RFC 6454 4), or that of an app or a browser's extension."""

    scheme: str
    host: str
    """In lower case; an IPv6 address has its brackets."""
    port: int | None
    """None if the origin has no port and its scheme has no default one."""


def read_origin(text: str) -> Origin | None:
    """Parse an origin; None if it is malformed or ``null``."""
    parts = _ORIGIN.fullmatch(text)
    if parts is None:
        return None
    scheme = parts["scheme"].lower()
    port = _DEFAULT_PORTS.get(scheme) if parts["port"] is None else int(parts["port"])
    return Origin(scheme=scheme, host=parts["host"].lower(), port=port)


class Origins:
    """The web origins that may send requests.

    Args:
        base_url: Its origin is allowed.
        allowed: Further origins (``mcp.allowed_origins``); ``*`` allows all.
    """

    def __init__(self, base_url: str, allowed: Sequence[str] = ()) -> None:
        self._all = ANY in allowed
        named = (base_url, *(text for text in allowed if text != ANY))
        self._allowed = frozenset(map(read_origin, named)) - {None}

    def allowed(self, lines: Sequence[bytes], *, loopback: bool) -> bytes | None:
        """Return the value of ``Access-Control-Allow-Origin``; None if the page is refused.

        Args:
            lines: The lines of Origin, at least one.
            loopback: Whether the client is on this machine: then pages of this machine are allowed, at any port.
        """
        if self._all:
            return ANY.encode()
        if len(lines) != 1:
            return None
        origin = read_origin(lines[0].decode("latin-1"))
        if origin is None or not (
            origin in self._allowed
            or (loopback and origin.scheme in _DEFAULT_PORTS and is_loopback(origin.host))
        ):
            return None
        return lines[0]


class Hosts:
    """The host names that are served (S3).

    Args:
        base_url: Its host is served.
        allowed: Further names (``server.allowed_hosts``), without ports; ``*`` allows all.
    """

    def __init__(self, base_url: str, allowed: Iterable[str] = ()) -> None:
        host = _AUTHORITY.fullmatch(urlsplit(base_url).netloc)
        named = () if host is None else (host["host"],)
        self._allowed = frozenset(name.lower() for name in (*named, *allowed))
        self._is_any = ANY in self._allowed

    def allow(self, authority: bytes | None, *, loopback: bool) -> bool:
        """Return whether a Host header names one of them; browsers always send one.

        A dot at the end of the name stands for the root of DNS, and changes nothing.

        Args:
            authority: The value of the header; None without one.
            loopback: Whether the client is on this machine: then names of this machine are allowed as well.
        """
        if authority is None or self._is_any:
            return True
        parts = _AUTHORITY.fullmatch(authority.decode("latin-1"))
        if parts is None:
            return False
        host = parts["host"].lower().removesuffix(".")
        return host in self._allowed or (loopback and is_loopback(host))


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its name or address, without a resolver."""
    if host in _LOOPBACK:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
