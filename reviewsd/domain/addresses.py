"""Decides which addresses may be dialled (E5, E8, E9) and which hosts are blocked (H7); names networks.

The table is our own: ``ipaddress.is_global`` calls NAT64 of the metadata address, 6to4 of loopback
and all of multicast global, and its answers change between Python's minor versions (F2).

IPv4 is refused according to the IANA registries. IPv6 is refused unless it is global unicast, so that
new ranges are refused by default; of global unicast, ranges that embed IPv4 (6to4, Teredo) or have a
special purpose are refused. An IPv4-mapped address, and one behind a configured NAT64 prefix, is
treated as the IPv4 address it leads to.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from reviewsd.domain.callback import needs_open_network

Network = IPv4Network | IPv6Network

_REFUSED: Mapping[Network, str] = {
    ip_network(network): word
    for network, word in {
        "0.0.0.0/8": "this-network",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "cgnat",
        "127.0.0.0/8": "loopback",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "ietf-protocol",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "as112",
        "192.52.193.0/24": "amt",
        "192.88.99.0/24": "6to4-relay",
        "192.168.0.0/16": "private",
        "192.175.48.0/24": "as112",
        "198.18.0.0/15": "benchmark",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
        "168.63.129.16/32": "cloud-metadata",
        "::/3": "not-global-unicast",
        "2001::/23": "ietf-protocol",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "as112",
        "3fff::/20": "documentation",
        "4000::/2": "not-global-unicast",
        "8000::/1": "not-global-unicast",
    }.items()
}
"""The refused networks, and a word for each; no two overlap."""

_NAT64_LENGTHS = (32, 40, 48, 56, 64, 96)  # RFC 6052 2.2


class AddressRefusedError(Exception):
    """A name resolves to an address that must not be dialled.

    Attributes:
        address: The address, as the resolver spells it.
        reason: A short reason.
    """

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"{address} is refused: {reason}")


class Addresses:
    """The rules for addresses of callbacks.

    Args:
        networks: Networks that are open although they are not public (``hub.callbacks.allow_networks``).
        nat64_prefixes: Prefixes of this host's translators (``hub.callbacks.nat64_prefixes``).

    Raises:
        ValueError: A NAT64 prefix has a length other than RFC 6052's.
    """

    def __init__(
        self,
        networks: Sequence[Network] = (),
        nat64_prefixes: Sequence[IPv6Network] = (),
    ) -> None:
        for prefix in nat64_prefixes:
            if prefix.prefixlen not in _NAT64_LENGTHS:
                lengths = ", ".join(f"/{length}" for length in _NAT64_LENGTHS)
                raise ValueError(f"the NAT64 prefix {prefix} has none of the lengths {lengths}")
        self._nat64_prefixes = tuple(nat64_prefixes)
        self._opened = tuple(networks)
        self._blocked: Sequence[Network] = ()

    def block(self, networks: Sequence[Network]) -> None:
        """Replace the blocked networks, which are refused even if they are open (H7)."""
        self._blocked = networks

    def refusal(self, address: str) -> str | None:
        """Return why an address must not be dialled (E8), or None if it is public or open (E9).

        Args:
            address: The address as text, as a resolver or a socket spells it.
        """
        if "%" in address:
            return "zone-id"
        try:
            destination = self._destination(address)
        except AddressValueError:
            return "not-an-address"
        if is_in(destination, self._blocked):
            return "blocked"
        if is_in(destination, self._opened):
            return None
        return _refused_word(destination)

    def opened(self, address: str) -> bool:
        """Return whether an address is in an open network (E9)."""
        is_refused = self.refusal(address) is not None
        return not is_refused and is_in(self._destination(address), self._opened)

    def chosen(self, host: str, answers: Sequence[str]) -> Sequence[str]:
        """Return the addresses of a name that may be dialled, in their order (E5, E9).

        A name with one refused address is refused. Only local names, such as ``localhost``, may have
        other addresses beside open ones; only the open ones are returned.

        Args:
            host: ``Callback.host``.
            answers: All addresses from the resolver.

        Raises:
            AddressRefusedError: The host must not be dialled.
        """
        if needs_open_network(host):
            opened = [address for address in answers if self.opened(address)]
            if answers and not opened:
                raise AddressRefusedError(answers[0], self.refusal(answers[0]) or "not-opened")
            return opened
        for address in answers:
            reason = self.refusal(address)
            if reason is not None:
                raise AddressRefusedError(address, reason)
        return answers

    def _destination(self, text: str) -> IPv4Address | IPv6Address:
        """Return the address that a packet reaches behind mappings and translators."""
        address = plain_address(text)
        if isinstance(address, IPv6Address):
            for prefix in self._nat64_prefixes:
                if address in prefix:
                    return _behind_nat64(address, prefix.prefixlen)
        return address


def read_block(value: str) -> str:
    """Return a block, which is a host with all names below it or a network, in its normal form.

    Raises:
        ValueError: The value is neither.
    """
    text = value.strip().lower().rstrip(".")
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        pass
    labels = text.split(".")
    has_valid_labels = all(
        label and label.replace("-", "").replace("_", "").isalnum() for label in labels
    )
    if not (text.isascii() and has_valid_labels) or labels[-1].isdigit():
        raise ValueError(
            "expected a host name (it and all names below it are blocked) or a network such as"
            " 203.0.113.0/24"
        )
    return text


def blocked_networks(values: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks among blocks in normal form."""
    return tuple(ip_network(value) for value in values if "/" in value)


def hits(values: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a callback host is blocked.

    Args:
        values: Blocks in normal form.
    """
    blocked = blocked_networks(values)
    names = {value for value in values if "/" not in value}

    def hit(host: str) -> bool:
        try:
            return is_in(ip_address(host), blocked)
        except ValueError:
            labels = host.split(".")
            return any(".".join(labels[at:]) in names for at in range(len(labels)))

    return hit


def plain_address(text: str) -> IPv4Address | IPv6Address:
    """Parse an address; an IPv4-mapped one is returned as IPv4.

    Raises:
        AddressValueError: The text is not an address (a ValueError).
    """
    if ":" not in text:
        return IPv4Address(text)
    address = IPv6Address(text)
    return address.ipv4_mapped or address


def network_of(address: str) -> str:
    """Return the address network of a callback: the /24 of an IPv4 address, the /48 of an IPv6 address.

    Raises:
        AddressValueError: The text is not an address.
    """
    return _network(address, 24, 48)


def client_network(address: str) -> str:
    """Return the client network of a client: the /32 of an IPv4 address, the /64 of an IPv6 address.

    Any other text, such as ``clients.LOCAL``, is returned unchanged.
    """
    try:
        return _network(address, 32, 64)
    except AddressValueError:
        return address


@lru_cache(4_096)  # 10 us for each connection
def neighborhood(client: str) -> str:
    """Return the address network around a client network; it has room for 256 or 65,536 of them."""
    try:
        return network_of(client.partition("/")[0])
    except AddressValueError:
        return client


def _network(text: str, ipv4_length: int, ipv6_length: int) -> str:
    address = plain_address(text)
    if isinstance(address, IPv4Address):
        return str(IPv4Network((int(address), ipv4_length), strict=False))
    return str(IPv6Network((int(address), ipv6_length), strict=False))  # int: without the zone


def is_in(address: IPv4Address | IPv6Address, networks: Sequence[Network]) -> bool:
    """Return whether an address is in one of some networks."""
    return any(address in network for network in networks)


def _refused_word(address: IPv4Address | IPv6Address) -> str | None:
    """Return the word of the refused network that an address is in, if it is in one."""
    return next((word for network, word in _REFUSED.items() if address in network), None)


def _behind_nat64(address: IPv6Address, length: int) -> IPv4Address:
    """Return the IPv4 address embedded behind a prefix of ``length`` bits (RFC 6052 2.2)."""
    octets = address.packed
    if length < _NAT64_LENGTHS[-1]:
        octets = octets[:8] + octets[9:]  # the ninth octet is reserved
    start = length // 8
    return IPv4Address(octets[start : start + 4])
