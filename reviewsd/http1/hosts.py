"""The names this service answers to, and the web pages that may call it (mcp.md 7; S3).

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

_MAX_CACHED = 300  # bytes of a host name whose verdict is cached: DNS allows 253


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A web origin (RFC 6454 4), or that of an app or a browser's extension."""

    scheme: str
    host: str
    """In lower case; an IPv6 address has its brackets."""
    port: int | None
    """None where the scheme has no default port and none is given."""


def read_origin(text: str) -> Origin | None:
    """Parse the origin that a page or an operator names; None where it is none, such as ``null``."""
    parts = _ORIGIN.fullmatch(text)
    if parts is None:
        return None
    scheme = parts["scheme"].lower()
    port = _DEFAULT_PORTS.get(scheme) if parts["port"] is None else int(parts["port"])
    return Origin(scheme=scheme, host=parts["host"].lower(), port=port)


class Origins:
    """The origins whose pages may send requests.

    Args:
        base_url: Its origin may.
        allowed: These may too (``mcp.allowed_origins``); ``*`` is all there are.
    """

    def __init__(self, base_url: str, allowed: Sequence[str] = ()) -> None:
        self._all = ANY in allowed
        named = (base_url, *(text for text in allowed if text != ANY))
        self._allowed = frozenset(map(read_origin, named)) - {None}

    def allowed(self, lines: Sequence[bytes], *, loopback: bool) -> bytes | None:
        """Return the value of ``Access-Control-Allow-Origin``; None if the page is refused.

        Args:
            lines: The lines of Origin, at least one.
            loopback: Whether only this machine can ask: then its own pages may, at any port.
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
        base_url: Its host may.
        allowed: These may too (``server.allowed_hosts``), without ports; ``*`` is all there are.
    """

    def __init__(self, base_url: str, allowed: Iterable[str] = ()) -> None:
        host = _AUTHORITY.fullmatch(urlsplit(base_url).netloc)
        named = () if host is None else (host["host"],)
        self._allowed = frozenset(name.lower() for name in (*named, *allowed))
        self._is_any = ANY in self._allowed

        self._allow_name = lru_cache(maxsize=64)(self._is_allowed_name)

    def allow(self, authority: bytes | None, *, loopback: bool) -> bool:
        """Return whether a Host header names one of them; without one, no browser asks.

        Args:
            authority: The value of the header.
            loopback: Whether only this machine can ask: then its own names are allowed as well.
        """
        if authority is None or self._is_any:
            return True
        if len(authority) > _MAX_CACHED:
            return self._is_allowed_name(authority, loopback)
        return self._allow_name(authority, loopback)

    def _is_allowed_name(self, authority: bytes, loopback: bool) -> bool:  # noqa: FBT001  cached
        """Return whether a name is allowed; a dot at its end is the root of DNS, and changes nothing."""
        parts = _AUTHORITY.fullmatch(authority.decode("latin-1"))
        if parts is None:
            return False
        host = parts["host"].lower().removesuffix(".")
        return host in self._allowed or (loopback and is_loopback(host))


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether a host means this machine, whatever a resolver says."""
    if host in _LOOPBACK:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
