"""Blocks of the operator: hosts with their subdomains, and networks (H7)."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.addresses import blocked_networks, hits, read_block


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("example.com", "example.com"),
        ("  Example.COM. ", "example.com"),
        ("a_b.xn--bcher-kva.example", "a_b.xn--bcher-kva.example"),
        ("localhost", "localhost"),
        ("203.0.113.7", "203.0.113.7/32"),
        ("203.0.113.7/24", "203.0.113.0/24"),
        ("2001:DB8::1", "2001:db8::1/128"),
        ("2001:db8:0::/48", "2001:db8::/48"),
        ("0.0.0.0/0", "0.0.0.0/0"),
    ],
)
def test_a_block_has_one_normal_form(value: str, expected: str) -> None:
    assert expected == read_block(value)
    assert expected == read_block(expected)


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "a..b",
        "*.example.com",
        "https://example.com/",
        "example.com:443",
        "exa mple.com",
        "bücher.example",
        "-",
        "127.1",
        "1.2.3.4.5",
        "256.1.1.1",
        "203.0.113.0/33",
        "[2001:db8::1]",
        "::1%eth0/64/1",
        "example.com/24",
    ],
)
def test_block_that_is_neither_host_nor_network_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="expected a host name"):
        read_block(value)


@pytest.mark.parametrize(
    ("block", "host", "expected"),
    [
        ("example.com", "example.com", True),
        ("example.com", "a.example.com", True),
        ("example.com", "a.b.example.com", True),
        ("example.com", "an-example.com", False),
        ("example.com", "example.com.org", False),
        ("a.example.com", "example.com", False),
        ("203.0.113.0/24", "203.0.113.7", True),
        ("203.0.113.0/24", "203.0.114.7", False),
        ("203.0.113.0/24", "2001:db8::1", False),
        ("2001:db8::/32", "2001:db8::1", True),
        ("2001:db8::/32", "203.0.113.7", False),
        ("203.0.113.0/24", "7.113.0.203", False),
        ("0.0.0.0/0", "example.com", False),
    ],
)
def test_block_matches_host_subdomains_and_addresses(block: str, host: str, expected: bool) -> None:
    """Names that lead into a blocked network are refused when they are dialled."""
    assert expected == hits([block])(host)
    assert expected == hits(["other.example", "198.51.100.0/24", block])(host)


def test_no_blocks_match_no_host() -> None:
    assert not hits(())("example.com")


def test_the_networks_are_those_that_must_not_be_dialled() -> None:
    assert (ip_network("203.0.113.0/24"), ip_network("2001:db8::/32")) == blocked_networks(
        ["203.0.113.0/24", "example.com", "2001:db8::/32"]
    )


@given(st.text(max_size=30))
def test_normalized_blocks_are_usable(value: str) -> None:
    try:
        block = read_block(value)
    except ValueError:
        return
    assert block == read_block(block)
    hits([block])("example.com")
    blocked_networks([block])
