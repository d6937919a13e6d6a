r"""A strict parser for callback URLs of subscribers (E1, E2, E3, E9).

URL parsers disagree about hostile URLs: ``urlsplit``, ``hyperlink`` and ``twisted.web.client.URI``
about 15 of 34 (F19), such as ``https://127.0.0.1\@example.com/``. So a callback is parsed once, by a
grammar without ambiguities, into (host, port, target), and every later URL is built from these.

The checks run in the order of E1's table, so that a URL with several faults always has the same
reason. Host and port are normalized: letter case, one trailing dot, a port of 443, the spelling of
an IPv6 literal. Path and query are kept byte for byte (W6, W7); only an absent path becomes ``/``,
which is equivalent (RFC 9110 4.2.3).
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
)

import idna

MAX_LENGTH = 2048  # bytes; E1
MAX_HOST_LENGTH = 253  # characters; RFC 1035 2.3.4
MAX_PORT = 65535
HTTPS_PORT = 443

REFUSED_LAST_LABELS = frozenset(
    {
        "localhost",
        "local",
        "localdomain",
        "internal",
        "intranet",
        "private",
        "corp",
        "home",
        "lan",
        "arpa",
        "test",
        "example",
        "invalid",
        "onion",
        "alt",
    }
)
"""Last labels that callbacks must not have: special-use domains (RFC 6761, 6762, 7686, 9476), common
private ones, and arpa."""


class Refusal(Enum):
    """Reason codes of E1, in its order."""

    TOO_LONG = "too-long"
    BAD_CHARACTER = "bad-character"
    FRAGMENT = "fragment"
    NOT_HTTPS = "not-https"
    BAD_SYNTAX = "bad-syntax"
    USERINFO = "userinfo"
    IP_LITERAL = "ip-literal"
    BAD_PORT = "bad-port"
    PORT_NOT_ALLOWED = "port-not-allowed"
    BAD_HOST = "bad-host"
    SINGLE_LABEL_HOST = "single-label-host"
    BAD_IDNA = "bad-idna"
    SPECIAL_USE_DOMAIN = "special-use-domain"
    OWN_HOST = "own-host"


_POLICY = frozenset(
    {
        Refusal.IP_LITERAL,
        Refusal.PORT_NOT_ALLOWED,
        Refusal.SINGLE_LABEL_HOST,
        Refusal.SPECIAL_USE_DOMAIN,
        Refusal.OWN_HOST,
    }
)


class CallbackRefusedError(Exception):
    """A callback is refused.

    Attributes:
        refusal: The first of E1's checks that failed.
        detail: One line for the subscriber's developer, without any part of the URL.
    """

    def __init__(self, refusal: Refusal, detail: str) -> None:
        self.refusal = refusal
        self.detail = detail
        super().__init__(f"{refusal.value}: {detail}")

    @property
    def is_forbidden(self) -> bool:
        """Whether the callback is well-formed but forbidden by policy (403 instead of 400)."""
        return self.refusal in _POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackPolicy:
    """The hub's rules beyond the grammar."""

    own_host: str
    """The host of ``base_url``, spelled like ``Callback.host``."""
    own_ports: AbstractSet[int]
    """The port of ``base_url`` and the ports of the listeners; the set may grow."""
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """``hub.callbacks.allow_networks`` (E9)."""
    ports: tuple[tuple[int, int], ...] = ((HTTPS_PORT, HTTPS_PORT), (1024, MAX_PORT))
    """Ranges of allowed ports, both ends inclusive (E3)."""


@dataclass(frozen=True, slots=True)
class Callback:
    """The parsed callback URL of a subscriber."""

    host: str
    """Lower case, without a trailing dot; an IPv6 literal without brackets, in RFC 5952's form."""
    port: int
    target: str
    """Path and query, unchanged; begins with a slash."""

    @property
    def is_literal(self) -> bool:
        """Whether the host is an address."""
        return _is_literal(self.host)

    @property
    def authority(self) -> str:
        """The value of a Host field: ``host``, ``host:port`` or ``[address]:port``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == HTTPS_PORT else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The stored form, which ``parse_stored`` parses."""
        return f"https://{self.authority}{self.target}"

    def with_parameters(self, query: str) -> "Callback":
        """Return the callback with more parameters after its own (W6).

        Args:
            query: Encoded parameters, such as ``hub.mode=subscribe&hub.topic=...``.
        """
        _, mark, own = self.target.partition("?")
        joint = "&" if own else "" if mark else "?"
        return Callback(self.host, self.port, f"{self.target}{joint}{query}")


def parse_callback(text: str, policy: CallbackPolicy) -> Callback:
    """Parse the callback of a subscriber.

    Raises:
        CallbackRefusedError: The callback fails one of E1's checks.
    """
    if len(text.encode(errors="surrogatepass")) > MAX_LENGTH:  # check 1
        raise CallbackRefusedError(
            Refusal.TOO_LONG, f"the callback must have at most {MAX_LENGTH} bytes"
        )
    return _parse(text, policy)


def parse_stored(url: str) -> Callback:
    """Parse a URL from the store without repeating the checks.

    Raises:
        ValueError: It does not match the stored form.
    """
    match = _STORED.fullmatch(url)
    if match is None:
        raise ValueError("not a stored callback")
    literal, name, port, target = match.groups()
    return Callback(literal or name, int(port or HTTPS_PORT), target)


def needs_open_network(host: str) -> bool:
    """Return whether a host is a literal or a local name, which needs an open network (E9).

    Args:
        host: ``Callback.host``.
    """
    _, dot, last = host.rpartition(".")
    return not dot or last in REFUSED_LAST_LABELS or _is_literal(host)


def _is_literal(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()


_STORED = re.compile(r"https://(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]+))?(/[!-~]*)")
_VISIBLE = re.compile(r"[!-~]+")
_DIVIDED = re.compile(r"https://([^/?]*+)(.*+)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](:.*)?")
_PORT = re.compile(r":([1-9][0-9]{0,4})")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # the URL standard's "ends in a number"
_TARGET = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]++|%[0-9A-Fa-f]{2})*+")


def _parse(text: str, policy: CallbackPolicy) -> Callback:
    """Run checks 2 to 16 of E1."""
    authority, target = _divide(text)
    if "[" in authority or "]" in authority or authority.count(":") > 1:  # check 7
        host, port_part = _read_bracketed(authority, policy)
        port = _read_port(port_part, policy)
    else:
        name, colon, digits = authority.partition(":")
        port = _read_port(colon + digits, policy)
        host = _read_host(name, policy)
    if host == policy.own_host and port in policy.own_ports:  # check 15
        raise CallbackRefusedError(Refusal.OWN_HOST, "the callback must not be this service")
    if _TARGET.fullmatch(target) is None:  # check 16
        raise CallbackRefusedError(
            Refusal.BAD_SYNTAX,
            "the path and query must consist of RFC 3986 characters and whole percent escapes",
        )
    return Callback(host, port, target if target.startswith("/") else f"/{target}")


def _divide(text: str) -> tuple[str, str]:
    """Run checks 2 to 6.

    Returns:
        The authority, and path and query.
    """
    if _VISIBLE.fullmatch(text) is None:
        raise CallbackRefusedError(
            Refusal.BAD_CHARACTER,
            "the callback must be printable ASCII without spaces; "
            "percent-encode the path, and send the A-label (xn--) of an international name",
        )
    if "#" in text:
        raise CallbackRefusedError(Refusal.FRAGMENT, "the callback must have no fragment")
    divided = _DIVIDED.fullmatch(text)
    if divided is None:
        raise CallbackRefusedError(Refusal.NOT_HTTPS, "the callback must begin with https://")
    authority, target = divided.groups()
    if "\\" in authority:
        raise CallbackRefusedError(Refusal.BAD_SYNTAX, "the callback must have no backslash")
    if "@" in authority:
        raise CallbackRefusedError(
            Refusal.USERINFO, "the callback must have no user name or password"
        )
    return authority, target


def _read_bracketed(authority: str, policy: CallbackPolicy) -> tuple[str, str]:
    """Return the normalized literal, and the port with its colon or ""."""
    match = _BRACKETED.fullmatch(authority)
    if match is None:
        raise _malformed()
    try:
        address = IPv6Address(match[1])
    except AddressValueError:
        raise _malformed() from None
    # An IPv4-mapped address is "another spelling", which E9 refuses.
    if address.ipv4_mapped is not None or not _lies_in(address, policy.networks):
        raise _ip_literal()
    return str(address), match[2] or ""


def _read_port(part: str, policy: CallbackPolicy) -> int:
    """Run checks 8 and 9.

    Args:
        part: The port with its colon, or "".
        policy: Has the allowed ports.
    """
    port = HTTPS_PORT
    if part:
        digits = _PORT.fullmatch(part)
        if digits is None or int(digits[1]) > MAX_PORT:
            raise CallbackRefusedError(
                Refusal.BAD_PORT,
                f"the port must be a number from 1 to {MAX_PORT}, without leading zeros",
            )
        port = int(digits[1])
    if not any(low <= port <= high for low, high in policy.ports):
        allowed = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in policy.ports)
        raise CallbackRefusedError(
            Refusal.PORT_NOT_ALLOWED, f"the port must be one of those allowed here: {allowed}"
        )
    return port


def _read_host(text: str, policy: CallbackPolicy) -> str:
    """Run checks 10 to 14: a name, or an IPv4 literal in an open network."""
    host = text.lower().removesuffix(".")
    if len(host) > MAX_HOST_LENGTH or _NAME.fullmatch(host) is None:
        raise CallbackRefusedError(
            Refusal.BAD_HOST,
            f"the host must be a name of at most {MAX_HOST_LENGTH} characters, in labels of "
            "1 to 63 letters, digits, hyphens and underscores that no hyphen begins or ends",
        )
    _, dot, last = host.rpartition(".")
    if _NUMBER.fullmatch(last) is not None:
        if not _is_opened_quad(text, policy):
            raise _ip_literal()
        return host
    if not dot and not policy.networks:
        raise CallbackRefusedError(
            Refusal.SINGLE_LABEL_HOST, "the host must be a full name, with its domain"
        )
    if not all(map(_is_idna, host.split("."))):
        raise CallbackRefusedError(
            Refusal.BAD_IDNA, "the host has a label that IDNA 2008 (RFC 5891) does not allow"
        )
    if last in REFUSED_LAST_LABELS and not policy.networks:
        raise CallbackRefusedError(
            Refusal.SPECIAL_USE_DOMAIN, "the host must be a name in the public DNS"
        )
    return host


def _is_opened_quad(text: str, policy: CallbackPolicy) -> bool:
    """Return whether a host is a dotted IPv4 address in an open network."""
    try:
        return _lies_in(IPv4Address(text), policy.networks)
    except AddressValueError:
        return False


def _is_idna(label: str) -> bool:
    """Return whether a label is a valid A-label, or has no ``--`` as its third and fourth character."""
    if label[2:4] != "--":
        return True
    try:
        return idna.alabel(idna.ulabel(label)) == label.encode()
    except UnicodeError:  # IDNAError is one
        return False


def _lies_in(
    address: IPv4Address | IPv6Address, networks: tuple[IPv4Network | IPv6Network, ...]
) -> bool:
    return any(address in network for network in networks)


def _ip_literal() -> CallbackRefusedError:
    return CallbackRefusedError(
        Refusal.IP_LITERAL, "the host must be a name, or an address in an allowed network"
    )


def _malformed() -> CallbackRefusedError:
    return CallbackRefusedError(Refusal.IP_LITERAL, "the host has a malformed IP address or port")
