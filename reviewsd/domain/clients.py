"""The address of a client behind proxies (S6).

Each proxy appends the address of its peer to X-Forwarded-For. The list is read from the right: the
first address that is not a trusted proxy is the client, because the client may forge all to its left.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

from reviewsd.domain.addresses import Network, is_in, plain_address

MAX_HOPS = 32
"""Hops that are parsed: each takes ten microseconds, and a header has room for 1,600."""

LOCAL = "local"
"""The client of a UNIX socket without forwarded addresses."""


def client_address(
    peer: str | None,
    forwarded: Sequence[str],
    trusted: Sequence[Network],
) -> str:
    """Return the address of the client: the peer, or the one that trusted proxies forward.

    A proxy that forwards no valid address is the client itself. If all hops are trusted, the farthest
    of ``MAX_HOPS`` is the client.

    Args:
        peer: The address of the peer; None for a UNIX socket, which is trusted because only a proxy
            on this machine can open it.
        forwarded: The values of the X-Forwarded-For fields, in order.
        trusted: ``server.trusted_proxies``.

    Returns:
        An address without zone or port, IPv4 if it is mapped; or ``LOCAL``.

    Raises:
        ValueError: The peer is not an address.
    """
    client = LOCAL
    if peer is not None:
        address = plain_address(peer)
        client = _without_zone(address)
        if not is_in(address, trusted):
            return client
    for hop in reversed(",".join(forwarded).rsplit(",", MAX_HOPS)[-MAX_HOPS:]):
        text = hop.strip(" \t")
        if not text:  # RFC 9110 5.6.1.2: empty elements are ignored
            continue
        try:
            address = _read_hop(text)
        except ValueError:
            break
        client = _without_zone(address)
        if not is_in(address, trusted):
            break
    return client


def is_trusted(peer: str | None, trusted: Sequence[Network]) -> bool:
    """Return whether the peer is a trusted proxy; the arguments are those of ``client_address``."""
    return peer is None or is_in(plain_address(peer), trusted)


_HOP = re.compile(r"\[(?P<bracketed>[^\[\]]*)\](:[0-9]{1,5})?|(?P<quad>[0-9.]+):[0-9]{1,5}")


def _read_hop(text: str) -> IPv4Address | IPv6Address:
    """Parse an address, with the brackets and the port that some proxies add."""
    match = _HOP.fullmatch(text)
    return plain_address(text if match is None else match["bracketed"] or match["quad"] or "")


def _without_zone(address: IPv4Address | IPv6Address) -> str:
    return str(address).partition("%")[0]
