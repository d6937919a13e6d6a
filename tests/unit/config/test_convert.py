"""From the configuration to the values the hub works with (E1, E3, E8, E9, H5, S6)."""

from ipaddress import ip_network
from pathlib import Path

import msgspec
import pytest

from reviewsd.config.convert import addresses, callback_policy, public_port, trusted
from reviewsd.config.hub_schema import Callbacks, HubConfig
from reviewsd.config.schema import Config, ServerConfig
from reviewsd.domain.callback import CallbackPolicy


def config(
    base_url: str = "https://reviews.example.com", callbacks: Callbacks | None = None
) -> Config:
    hub = HubConfig(callbacks=callbacks or Callbacks())
    return Config(base_url=base_url, data_dir=Path("/srv"), hub=hub)


@pytest.mark.parametrize(
    ("base_url", "host", "port"),
    [
        ("https://reviews.example.com", "reviews.example.com", 443),
        ("http://localhost", "localhost", 80),
        ("https://my_host:8443", "my_host", 8443),
        ("http://127.0.0.1:8080", "127.0.0.1", 8080),
        ("http://[::1]:8080", "::1", 8080),
        ("https://[2001:db8:0:0:0:0:0:1]", "2001:db8::1", 443),
    ],
)
def test_own_host_is_normalized_as_that_of_a_callback(base_url: str, host: str, port: int) -> None:
    """They are compared as texts (E1, check 15)."""
    public = config(base_url)
    assert (host, port) == (callback_policy(public, set()).own_host, public_port(public))


def test_default_policy_is_that_of_the_domain() -> None:
    standard = CallbackPolicy(own_host="reviews.example.com", own_ports=frozenset({443}))
    assert standard == callback_policy(config(), {443})


def test_networks_of_callbacks_are_parsed() -> None:
    opened = Callbacks(allow_networks=("10.0.0.0/8", "::1"))
    policy = callback_policy(config(callbacks=opened), set())
    assert (ip_network("10.0.0.0/8"), ip_network("::1/128")) == policy.networks


def test_only_public_addresses_are_allowed_by_default() -> None:
    assert addresses(config()).refusal("10.0.0.1") == "private"
    opened = addresses(config(callbacks=Callbacks(allow_networks=("10.0.0.0/8",))))
    assert opened.refusal("10.0.0.1") is None
    assert opened.refusal("127.0.0.1") == "loopback"


def test_address_inside_a_nat64_prefix_is_judged() -> None:
    plain = addresses(config())
    mapped = addresses(config(callbacks=Callbacks(nat64_prefixes=("64:ff9b::/96",))))
    assert plain.refusal("64:ff9b::8.8.8.8") == "not-global-unicast"
    assert mapped.refusal("64:ff9b::8.8.8.8") is None
    assert mapped.refusal("64:ff9b::10.0.0.1") == "private"


def test_proxies_on_this_machine_are_trusted_by_default() -> None:
    assert (ip_network("127.0.0.0/8"), ip_network("::1/128")) == trusted(config())
    config_of_proxy = msgspec.structs.replace(
        config(), server=ServerConfig(trusted_proxies=("192.0.2.1",))
    )
    assert (ip_network("192.0.2.1/32"),) == trusted(config_of_proxy)
