"""The client's address behind proxies: the spoofing table of S6."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.clients import LOCAL, client_address

TRUSTED = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        # an untrusted peer is the client itself
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        ("192.0.2.1", ["10.0.0.1"], "192.0.2.1"),
        ("::ffff:192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        ("2001:DB8::1", ["203.0.113.9"], "2001:db8::1"),
        ("fe80::1%eth0", ["203.0.113.9"], "fe80::1"),
        # the right-most hop that is not trusted
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.7, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.7, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.7", "203.0.113.9", "10.0.0.2,10.0.0.3"], "203.0.113.9"),
        ("10.0.0.1", ["10.0.0.9, 203.0.113.9"], "203.0.113.9"),
        ("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("fd00::1", ["2001:db8::9, fd00::2"], "2001:db8::9"),
        # all are trusted: the farthest, of as many as are looked at
        ("10.0.0.1", [",".join(f"10.1.0.{network}" for network in range(100))], "10.1.0.68"),
        ("10.0.0.1", ["192.0.2.9" + 31 * ",10.0.0.2"], "192.0.2.9"),
        ("10.0.0.1", ["192.0.2.9" + 32 * ",10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["192.0.2.9" + 1_000 * ","], "10.0.0.1"),
        # or really the farthest
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        # a UNIX socket
        (None, [], LOCAL),
        (None, ["rubbish"], LOCAL),
        (None, ["203.0.113.9"], "203.0.113.9"),
        (None, ["198.51.100.7, 203.0.113.9"], "203.0.113.9"),
        # spellings
        ("10.0.0.1", ["203.0.113.9:51234"], "203.0.113.9"),
        ("10.0.0.1", ["[2001:db8::9]"], "2001:db8::9"),
        ("10.0.0.1", ["[2001:DB8:0::9]:51234"], "2001:db8::9"),
        ("10.0.0.1", ["2001:db8::9"], "2001:db8::9"),
        ("10.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["[::ffff:203.0.113.9]:80"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9, [::ffff:10.0.0.2]:80"], "203.0.113.9"),
        ("10.0.0.1", ["fe80::1%eth0"], "fe80::1"),
        ("10.0.0.1", [" \t203.0.113.9\t "], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9, , ", "", ","], "203.0.113.9"),
        # rubbish ends the walk
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["_hidden"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9:"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9:123456"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9 203.0.113.8"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.09"], "10.0.0.1"),
        ("10.0.0.1", ["127.1"], "10.0.0.1"),
        ("10.0.0.1", ["[]"], "10.0.0.1"),
        ("10.0.0.1", ["[2001:db8::9"], "10.0.0.1"),
        ("10.0.0.1", ["[2001:db8::9]80"], "10.0.0.1"),
        ("10.0.0.1", ['"203.0.113.9"'], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9\r\n"], "10.0.0.1"),
        ("10.0.0.1", ["<script>"], "10.0.0.1"),
    ],
)
def test_the_client_is_the_right_most_hop_that_is_not_trusted(
    peer: str | None, forwarded: list[str], expected: str
) -> None:
    assert expected == client_address(peer, forwarded, TRUSTED)


def test_without_trusted_proxies_the_peer_is_the_client() -> None:
    assert "10.0.0.1" == client_address("10.0.0.1", ["203.0.113.9"], [])


def test_a_peer_is_an_address() -> None:
    with pytest.raises(ValueError, match="nobody"):
        client_address("nobody", [], [])


HOPS = st.one_of(st.text(), st.ip_addresses().map(str), st.sampled_from(["10.0.0.1", "[::1]:80"]))


@given(st.none() | st.just("10.0.0.1"), st.lists(HOPS))
def test_any_header_gives_an_address(peer: str | None, forwarded: list[str]) -> None:
    client = client_address(peer, forwarded, TRUSTED)
    if client != LOCAL:
        assert client == str(ip_address(client))
    else:
        assert peer is None


@given(st.lists(HOPS), st.ip_addresses().map(str))
def test_forwarded_address_of_untrusted_peer_is_ignored(claimed: list[str], stranger: str) -> None:
    """The proxy appends the stranger's address to whatever the stranger sent."""
    alone = client_address("10.0.0.1", [stranger], [ip_network("10.0.0.1")])
    if alone != "10.0.0.1":
        assert alone == client_address("10.0.0.1", [*claimed, stranger], [ip_network("10.0.0.1")])
