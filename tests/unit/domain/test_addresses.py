"""Rules for addresses that may be dialled, and networks of addresses (E5, E8, E9)."""

import json
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.addresses import (
    Addresses,
    AddressRefusedError,
    client_network,
    network_of,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/callbacks.json").read_text())

DEFAULT = Addresses()
LOOPBACK = Addresses([ip_network("127.0.0.0/8")])

REFUSED_IPV4 = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16
192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
"""
REFUSED_IPV6 = """
::/3 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 4000::/2 8000::/1
"""
"""E8's tables, written down a second time; IPv6's as what is left out of 2000::/3."""

TOUCHING = {("224.0.0.0/4", "240.0.0.0/4"), ("4000::/2", "8000::/1")}
"""Neighbours with nothing public between them."""

EVERY_NETWORK = [*map(ip_network, (REFUSED_IPV4 + REFUSED_IPV6).split())]

every_network = pytest.mark.parametrize("network", EVERY_NETWORK, ids=str)


def is_refused(address: IPv4Address | IPv6Address) -> bool:
    return DEFAULT.refusal(str(address)) is not None


@pytest.mark.parametrize("row", VECTORS["addresses"], ids=lambda row: row["address"])
def test_the_vectors(row: dict[str, Any]) -> None:
    assert row.get("reason") == DEFAULT.refusal(row["address"])
    assert row["public"] == (DEFAULT.refusal(row["address"]) is None)


@every_network
def test_a_network_is_refused_to_both_its_ends(network: IPv4Network | IPv6Network) -> None:
    assert is_refused(network.network_address)
    assert is_refused(network.broadcast_address)


@every_network
def test_the_addresses_beside_a_network_are_public(network: IPv4Network | IPv6Network) -> None:
    """Unless they lie in a neighbor of it."""
    own = [candidate for candidate in EVERY_NETWORK if candidate.version == network.version]
    last = 2**network.max_prefixlen - 1
    for value in (int(network.network_address) - 1, int(network.broadcast_address) + 1):
        if 0 <= value <= last:
            beside = type(network.network_address)(value)
            neighbors = [str(candidate) for candidate in own if beside in candidate]
            if neighbors:
                assert tuple(sorted([str(network), *neighbors])) in TOUCHING
            assert bool(neighbors) == is_refused(beside)


@given(st.ip_addresses(v=4))
def test_ipv4_in_ipv6_clothes_is_judged_as_ipv4_or_refused(address: IPv4Address) -> None:
    value = int(address)
    mapped = IPv6Address(0xFFFF << 32 | value)
    assert DEFAULT.refusal(str(address)) == DEFAULT.refusal(str(mapped))
    assert DEFAULT.refusal(str(address)) == DEFAULT.refusal(f"::FFFF:{address}")
    for name, dressed in {
        "compatible": value,
        "translated (SIIT)": 0xFFFF << 48 | value,
        "NAT64": int(IPv6Address("64:ff9b::")) | value,
        "local NAT64": int(IPv6Address("64:ff9b:1::")) | value,
        "6to4": 0x2002 << 112 | value << 80,
        "Teredo server": 0x2001 << 112 | value << 64,
        "Teredo client": 0x2001 << 112 | (value ^ 0xFFFFFFFF),
    }.items():
        assert is_refused(IPv6Address(dressed)), name


@pytest.mark.parametrize(
    ("prefix", "address"),
    [
        ("2a00:db8::/32", "2a00:db8:c000:221::"),
        ("2a00:db8:100::/40", "2a00:db8:1c0:2:21::"),
        ("2a00:db8:122::/48", "2a00:db8:122:c000:2:2100::"),
        ("2a00:db8:122:300::/56", "2a00:db8:122:3c0:0:221::"),
        ("2a00:db8:122:344::/64", "2a00:db8:122:344:c0:2:2100::"),
        ("2a00:db8:122:344::/96", "2a00:db8:122:344::192.0.2.33"),
        ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
    ],
)
def test_behind_a_nat64_prefix_the_ipv4_address_is_judged(prefix: str, address: str) -> None:
    """The examples of RFC 6052 2.4, in public address space."""
    judge = Addresses(nat64_prefixes=[IPv6Network(prefix)])
    assert "documentation" == judge.refusal(address)
    assert not judge.opened(address)
    opened = Addresses([ip_network("192.0.2.32/31")], [IPv6Network(prefix)])
    assert opened.opened(address)
    assert opened.refusal(address) is None


def test_behind_a_nat64_prefix_a_public_address_is_public() -> None:
    judge = Addresses(nat64_prefixes=[IPv6Network("64:ff9b::/96")])
    assert judge.refusal("64:ff9b::8.8.8.8") is None
    assert "link-local" == judge.refusal("64:ff9b::a9fe:a9fe")
    assert "not-global-unicast" == judge.refusal("64:ff9b:1::8.8.8.8")
    assert judge.refusal("2606:4700:4700::1111") is None


def test_a_nat64_prefix_has_a_length_of_rfc_6052() -> None:
    with pytest.raises(ValueError, match=r"64:ff9b::/95 has none of the lengths /32, /40,"):
        Addresses(nat64_prefixes=[IPv6Network("64:ff9b::/95")])


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.1", "0177.0.0.1", "2130706433", "::1::", "1.2.3.4 ", "\u0661"]
)
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    assert "not-an-address" == DEFAULT.refusal(text)
    assert not LOOPBACK.opened(text)


@pytest.mark.parametrize(
    ("address", "opened"),
    [
        ("126.255.255.255", False),
        ("127.0.0.0", True),
        ("127.255.255.255", True),
        ("128.0.0.0", False),
        ("::ffff:127.0.0.1", True),
        ("::1", False),
        ("::127.0.0.1", False),
        ("64:ff9b::127.0.0.1", False),
        ("8.8.8.8", False),
    ],
)
def test_an_opened_network_opens_its_addresses_and_no_others(address: str, *, opened: bool) -> None:
    assert opened == LOOPBACK.opened(address)
    assert (None if opened else DEFAULT.refusal(address)) == LOOPBACK.refusal(address)


def test_a_zone_is_refused_even_in_an_opened_network() -> None:
    judge = Addresses([ip_network("::/0")])
    assert judge.opened("fe80::1")
    assert not judge.opened("fe80::1%lo")
    assert "zone-id" == judge.refusal("fe80::1%lo")


def test_opened_networks_may_overlap_and_touch() -> None:
    networks = ["10.1.0.0/16", "10.0.0.0/8", "10.1.2.0/24", "11.0.0.0/8", "fd00::/8", "fd00:1::/32"]
    judge = Addresses([ip_network(candidate) for candidate in networks])
    for address in ("10.0.0.0", "10.1.2.3", "10.255.255.255", "11.0.0.0", "fd00::", "fdff::1"):
        assert judge.opened(address)
    for address in ("9.255.255.255", "12.0.0.0", "fcff::1", "fe00::"):
        assert not judge.opened(address)


def chosen_or_reason(judge: Addresses, host: str, *answers: str) -> list[str] | str:
    try:
        return list(judge.chosen(host, answers))
    except AddressRefusedError as error:
        return str(error)


@pytest.mark.parametrize(
    ("host", "answers", "expected"),
    [
        ("sub.example.org", "8.8.8.8 2606:4700::1 1.1.1.1", ["8.8.8.8", "2606:4700::1", "1.1.1.1"]),
        ("sub.example.org", "", []),
        ("sub.example.org", "8.8.8.8 10.0.0.1", "10.0.0.1 is refused: private"),
        ("sub.example.org", "10.0.0.1 8.8.8.8", "10.0.0.1 is refused: private"),
        ("sub.example.org", "::ffff:10.0.0.1", "::ffff:10.0.0.1 is refused: private"),
        ("sub.example.org", "fe80::1%lo", "fe80::1%lo is refused: zone-id"),
        ("sub.example.org", "127.0.0.2", "127.0.0.2 is refused: loopback"),
        ("localhost", "127.0.0.1", "127.0.0.1 is refused: loopback"),
        ("localhost", "8.8.8.8", "8.8.8.8 is refused: not-opened"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1 is refused: loopback"),
    ],
)
def test_one_bad_address_refuses_name(host: str, answers: str, expected: list[str] | str) -> None:
    assert expected == chosen_or_reason(DEFAULT, host, *answers.split())


@pytest.mark.parametrize(
    ("host", "answers", "expected"),
    [
        ("sub.example.org", "127.0.0.2", ["127.0.0.2"]),
        ("sub.example.org", "8.8.8.8 127.0.0.2", ["8.8.8.8", "127.0.0.2"]),
        ("sub.example.org", "127.0.0.2 ::1", "::1 is refused: not-global-unicast"),
        ("localhost", "::1 127.0.0.1", ["127.0.0.1"]),
        ("localhost", "127.0.0.3 ::1 127.0.0.1 8.8.8.8", ["127.0.0.3", "127.0.0.1"]),
        ("localhost", "", []),
        ("printer.local", "10.0.0.5", "10.0.0.5 is refused: private"),
        ("printer.local", "8.8.8.8", "8.8.8.8 is refused: not-opened"),
        ("127.0.0.1", "127.0.0.1", ["127.0.0.1"]),
        ("8.8.8.8", "8.8.8.8", "8.8.8.8 is refused: not-opened"),
        ("::1", "::1", "::1 is refused: not-global-unicast"),
    ],
)
def test_with_loopback_opened_local_names_reach_loopback_only(
    host: str, answers: str, expected: list[str] | str
) -> None:
    assert expected == chosen_or_reason(LOOPBACK, host, *answers.split())


def test_a_refusal_names_the_address_and_the_reason() -> None:
    with pytest.raises(AddressRefusedError) as caught:
        DEFAULT.chosen("sub.example.org", ["8.8.8.8", "10.0.0.1"])
    assert ("10.0.0.1", "private") == (caught.value.address, caught.value.reason)


@pytest.mark.parametrize(
    ("address", "network", "client"),
    [
        ("203.0.113.9", "203.0.113.0/24", "203.0.113.9/32"),
        ("::ffff:203.0.113.9", "203.0.113.0/24", "203.0.113.9/32"),
        ("2001:db8:1:2:3::4", "2001:db8:1::/48", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/48", "fe80::/64"),
    ],
)
def test_an_address_belongs_to_a_network(address: str, network: str, client: str) -> None:
    assert network == network_of(address)
    assert client == client_network(address)


def test_a_client_without_an_address_is_a_network_of_its_own() -> None:
    assert "local" == client_network("local")
    with pytest.raises(ValueError, match="local"):
        network_of("local")
