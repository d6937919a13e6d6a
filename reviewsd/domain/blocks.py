"""The operator's blocks: hosts with their subdomains, and networks (H7)."""

from collections.abc import Callable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Network = IPv4Network | IPv6Network


def read_block(value: str) -> str:
    """Return a host or network in its normal form.

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


def networks(values: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks among blocks in normal form."""
    return tuple(ip_network(value) for value in values if "/" in value)


def hits(values: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a callback host is blocked.

    Args:
        values: Blocks in normal form.
    """
    blocked = networks(values)
    names = {value for value in values if "/" not in value}

    def hit(host: str) -> bool:
        address = _address(host)
        if address is not None:
            return any(
                address.version == network.version and address in network for network in blocked
            )
        labels = host.split(".")
        return any(".".join(labels[at:]) in names for at in range(len(labels)))

    return hit


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
