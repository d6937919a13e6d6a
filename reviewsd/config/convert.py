"""Parses the addresses, networks and ports of a Config, which ``config.load`` has checked."""

from collections.abc import Set as AbstractSet
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

from reviewsd.config import syntax
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import HTTPS_PORT, CallbackPolicy

_HTTP_PORT = 80


def public_port(config: Config) -> int:
    """Return the port of ``base_url``."""
    base = urlsplit(config.base_url)
    return base.port or (HTTPS_PORT if base.scheme == "https" else _HTTP_PORT)


def callback_policy(config: Config, own_ports: AbstractSet[int]) -> CallbackPolicy:
    """Return the policy for callbacks (E1, E3, E9).

    Args:
        config: The configuration.
        own_ports: Ports of ``base_url`` and of the listeners; others may be added later.
    """
    return CallbackPolicy(
        own_host=_normal(urlsplit(config.base_url).hostname or ""),
        own_ports=own_ports,
        networks=tuple(map(syntax.network, config.hub.callbacks.allow_networks)),
    )


def addresses(config: Config) -> Addresses:
    """Return the table of addresses that may be dialed (E8, E9)."""
    callbacks = config.hub.callbacks
    return Addresses(
        tuple(map(syntax.network, callbacks.allow_networks)),
        tuple(map(syntax.nat64_prefix, callbacks.nat64_prefixes)),
    )


def trusted(config: Config) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the networks of proxies with a trusted X-Forwarded-For (S6)."""
    return tuple(map(syntax.network, config.server.trusted_proxies))


def allowed_origins(config: Config) -> tuple[str, ...]:
    """Return the origins of pages that may call MCP besides ``base_url`` (mcp.md 7)."""
    return tuple(map(syntax.origin_or_any, config.mcp.allowed_origins))


def allowed_hosts(config: Config) -> tuple[str, ...]:
    """Return the host names that are served besides that of ``base_url`` (mcp.md 7)."""
    return tuple(map(syntax.host_or_any, config.server.allowed_hosts))


def _normal(host: str) -> str:
    """Return a host as ``Callback.host`` has it: an IPv6 address in RFC 5952's form."""
    try:
        return str(IPv6Address(host))
    except AddressValueError:
        return host
