"""From the operator's words to the values that the floors below work with; a Config in, values out.

What is only renamed on the way is done where it is needed. Here is what has to be read: addresses
and ports that a Config holds as they were written, checked by ``config.load``.
"""

from collections.abc import Set as AbstractSet
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

from reviewsd.config import syntax
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import HTTPS_PORT, CallbackPolicy

_HTTP_PORT = 80


def public_port(config: Config) -> int:
    """The port of ``base_url``."""
    base = urlsplit(config.base_url)
    return base.port or (HTTPS_PORT if base.scheme == "https" else _HTTP_PORT)


def callback_policy(config: Config, own_ports: AbstractSet[int]) -> CallbackPolicy:
    """Which callbacks may be asked for (E1, E3, E9).

    Args:
        config: Its ``base_url`` and ``hub.callbacks``.
        own_ports: Of ``base_url`` and the listeners; what is added later counts too.
    """
    callbacks = config.hub.callbacks
    return CallbackPolicy(
        own_host=_spelt(urlsplit(config.base_url).hostname or ""),
        own_ports=own_ports,
        networks=tuple(map(syntax.network, callbacks.allow_networks)),
    )


def addresses(config: Config) -> Addresses:
    """Which addresses may be dialled (E8, E9)."""
    callbacks = config.hub.callbacks
    return Addresses(
        tuple(map(syntax.network, callbacks.allow_networks)),
        tuple(map(syntax.nat64_prefix, callbacks.nat64_prefixes)),
    )


def trusted(config: Config) -> tuple[IPv4Network | IPv6Network, ...]:
    """Whose X-Forwarded-For is believed (S6)."""
    return tuple(map(syntax.network, config.server.trusted_proxies))


def allowed_origins(config: Config) -> tuple[str, ...]:
    """Whose pages may call MCP besides those of ``base_url`` (mcp.md 7)."""
    return tuple(map(syntax.origin_or_any, config.mcp.allowed_origins))


def allowed_hosts(config: Config) -> tuple[str, ...]:
    """By which names a listener on loopback may be asked too (mcp.md 7)."""
    return tuple(map(syntax.host_or_any, config.server.allowed_hosts))


def _spelt(host: str) -> str:
    """A host as ``Callback.host`` is: an IPv6 address in RFC 5952's form."""
    try:
        return str(IPv6Address(host))
    except AddressValueError:
        return host
