"""Who the client is when proxies stand in between (S6).

Each proxy appends to X-Forwarded-For the address it was called from. Read from the right, the line
is believed as far as proxies we trust have written it: the first hop that is none of them is the
client, and what stands to the left of it the client may have made up.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from reviewsd.domain.addresses import plain_address

MAX_HOPS = 32
"""That are looked at: reading an address takes ten microseconds, and a header has room for 1,600."""

LOCAL = "local"
"""The client of a UNIX socket that nobody was forwarded over."""


def client_address(
    peer: str | None,
    forwarded: Sequence[str],
    trusted: Sequence[IPv4Network | IPv6Network],
) -> str:
    """The address of the client: the peer, or whom trusted proxies speak for.

    A hop that is no address ends the walk at the last good one before it: the proxy that wrote
    rubbish is the client. If every hop is trusted, the farthest is, of ``MAX_HOPS``.

    Args:
        peer: The address at the other end of the connection; None for a UNIX socket, which only a
            proxy on this machine can open, and which is therefore trusted.
        forwarded: The values of the X-Forwarded-For fields, in order.
        trusted: ``server.trusted_proxies``.

    Returns:
        An address, IPv4 where it is mapped, without a zone or port; or ``LOCAL``.

    Raises:
        ValueError: The peer is no address.
    """
    client = LOCAL
    if peer is not None:
        address = plain_address(peer)
        client = _spelt(address)
        if not _is_trusted(address, trusted):
            return client
    for hop in reversed(",".join(forwarded).rsplit(",", MAX_HOPS)[-MAX_HOPS:]):
        text = hop.strip(" \t")
        if not text:  # RFC 9110 5.6.1.2: empty elements are ignored
            continue
        try:
            address = _read_hop(text)
        except ValueError:
            break
        client = _spelt(address)
        if not _is_trusted(address, trusted):
            break
    return client


def is_trusted(peer: str | None, trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Whether what the peer says of others is believed; the arguments are ``client_address``'s."""
    return peer is None or _is_trusted(plain_address(peer), trusted)


_HOP = re.compile(r"\[(?P<bracketed>[^\[\]]*)\](:[0-9]{1,5})?|(?P<quad>[0-9.]+):[0-9]{1,5}")


def _read_hop(text: str) -> IPv4Address | IPv6Address:
    """An address, perhaps in brackets, perhaps with the port that some proxies add."""
    dressed = _HOP.fullmatch(text)
    return plain_address(text if dressed is None else dressed["bracketed"] or dressed["quad"] or "")


def _is_trusted(
    address: IPv4Address | IPv6Address, trusted: Sequence[IPv4Network | IPv6Network]
) -> bool:
    return any(address in network for network in trusted)


def _spelt(address: IPv4Address | IPv6Address) -> str:
    return str(address).partition("%")[0]
