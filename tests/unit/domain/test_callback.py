"""Callbacks: what is accepted and refused, and that every parser reads the same (E1, E2, E3, E9)."""

import json
import re
import string
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twisted.web.client import URI

from reviewsd.domain.callback import (
    MAX_LENGTH,
    REFUSED_LAST_LABELS,
    Callback,
    CallbackPolicy,
    CallbackRefusedError,
    Refusal,
    needs_open_network,
    parse_callback,
    parse_stored,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/callbacks.json").read_text())

POLICY = CallbackPolicy(own_host="reviews.example.net", own_ports=frozenset({443, 8080}))
OPENED = replace(POLICY, networks=(ip_network("127.0.0.0/8"),))
OPENED_IPV6 = replace(POLICY, networks=(ip_network("::/0"),))

HOST = "https://sub.example.org"


def refused(url: str, policy: CallbackPolicy = POLICY) -> CallbackRefusedError:
    with pytest.raises(CallbackRefusedError) as caught:
        parse_callback(url, policy)
    return caught.value


def reason(url: str, policy: CallbackPolicy = POLICY) -> str:
    return refused(url, policy).refusal.value


def parts(url: str, policy: CallbackPolicy = POLICY) -> tuple[str, int, str]:
    callback = parse_callback(url, policy)
    return callback.host, callback.port, callback.target


@pytest.mark.parametrize("row", VECTORS["refused"], ids=lambda row: row["url"][:40])
def test_the_vectors_refused(row: dict[str, Any]) -> None:
    """Each with one plain line for the developer."""
    error = refused(row["url"])
    assert row["reason"] == error.refusal.value
    assert re.fullmatch(r"the [ -~]+", error.detail)


@pytest.mark.parametrize("row", VECTORS["accepted"], ids=lambda row: row["url"])
def test_the_vectors_accepted(row: dict[str, Any]) -> None:
    assert (row["host"], row["port"], row["target"]) == parts(row["url"])


def test_a_missing_path_is_a_slash() -> None:
    """Also before a query: ``?x=1`` alone could not be sent as a request target."""
    assert ("sub.example.org", 443, "/?x=1") == parts(f"{HOST}?x=1")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("caf\u00e9#", Refusal.BAD_CHARACTER),
        ("http://a@b\\#", Refusal.FRAGMENT),
        ("http://a@b\\:0/", Refusal.NOT_HTTPS),
        ("https://a@[b\\]:0/", Refusal.BAD_SYNTAX),
        ("https://a@[b]:0/", Refusal.USERINFO),
        ("https://[b]:0/", Refusal.IP_LITERAL),
        ("https://a..b:0/%", Refusal.BAD_PORT),
        ("https://a..b:22/%", Refusal.PORT_NOT_ALLOWED),
        ("https://-.1/%", Refusal.BAD_HOST),
        ("https://ab--c.1/%", Refusal.IP_LITERAL),
        ("https://ab--c/%", Refusal.SINGLE_LABEL_HOST),
        ("https://ab--c.local/%", Refusal.BAD_IDNA),
        ("https://a.local/%", Refusal.SPECIAL_USE_DOMAIN),
        ("https://reviews.example.net/%", Refusal.OWN_HOST),
        ("https://a.org/%", Refusal.BAD_SYNTAX),
    ],
)
def test_of_several_faults_the_first_of_the_table_is_named(url: str, expected: Refusal) -> None:
    assert expected == refused(url).refusal
    assert Refusal.TOO_LONG == refused(url + "#" * MAX_LENGTH).refusal


@pytest.mark.parametrize("authority", ["example.com:1:2", "exa[mple.com", "[::1", "[1::2::3]"])
def test_malformed_address_or_port_differs_from_one_that_is_not_allowed(authority: str) -> None:
    error = refused(f"https://{authority}/")
    assert ("ip-literal", "the host has a malformed IP address or port") == (
        error.refusal.value,
        error.detail,
    )
    allowed = "the host must be a name, or an address in an allowed network"
    assert allowed == refused("https://[::1]/").detail == refused("https://10.0.0.1/").detail


def test_port_has_no_leading_zeros() -> None:
    assert "without leading zeros" in refused(f"{HOST}:0443/").detail


def test_at_most_2048_bytes() -> None:
    longest = f"{HOST}/".ljust(2048, "a")
    assert longest == parse_callback(longest, POLICY).url
    assert "too-long" == reason(longest + "a")
    assert "too-long" == reason("\u20ac" * 683)  # three bytes each: 2,049
    assert "bad-character" == reason("\u20ac" * 682)


def test_the_slash_that_was_missing_does_not_count() -> None:
    callback = parse_callback(f"{HOST}?".ljust(2048, "a"), POLICY)
    assert 2049 == len(callback.url)
    assert callback == parse_stored(callback.url)


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        (1, "port-not-allowed"),
        (442, "port-not-allowed"),
        (444, "port-not-allowed"),
        (1023, "port-not-allowed"),
        (65536, "bad-port"),
        ("+443", "bad-port"),
        ("-1", "bad-port"),
        ("4_43", "bad-port"),
    ],
)
def test_ports_refused(port: int | str, expected: str) -> None:
    assert expected == reason(f"{HOST}:{port}/")


def test_ports_may_be_narrowed_even_past_the_default_one() -> None:
    narrow = replace(POLICY, ports=((8443, 8443), (9000, 9999)))
    assert "port-not-allowed" == reason(f"{HOST}/", narrow)
    assert "port-not-allowed" == reason(f"{HOST}:8444/", narrow)
    assert ("sub.example.org", 8443, "/") == parts(f"{HOST}:8443/", narrow)
    assert "one of those allowed here: 8443, 9000-9999" in refused(f"{HOST}/", narrow).detail


@pytest.mark.parametrize("last", sorted(REFUSED_LAST_LABELS))
def test_special_use_names_are_refused_unless_a_network_is_opened(last: str) -> None:
    assert "special-use-domain" == reason(f"https://a.{last}/")
    assert "single-label-host" == reason(f"https://{last}/")
    assert (f"a.{last}", 443, "/") == parts(f"https://a.{last}/", OPENED)
    assert (last, 443, "/") == parts(f"https://{last}/", OPENED)
    assert (f"{last}.org", 443, "/") == parts(f"https://{last}.org/")
    assert needs_open_network(last)
    assert needs_open_network(f"a.{last}")
    assert not needs_open_network(f"{last}.org")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "fd00:ec2::254"])
def test_literals_need_an_opened_network(host: str) -> None:
    assert needs_open_network(host)
    assert Callback(host, 443, "/").is_literal


def test_a_name_is_no_literal() -> None:
    assert not Callback("1.2.3.4.example.org", 443, "/").is_literal


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://127.0.0.1:9443/cb", ("127.0.0.1", 9443, "/cb")),
        ("https://localhost:9443/cb", ("localhost", 9443, "/cb")),
        ("https://LOCALHOST.:9443/cb", ("localhost", 9443, "/cb")),
        ("https://printer.local/", ("printer.local", 443, "/")),
        ("https://sub.example.org/", ("sub.example.org", 443, "/")),
    ],
)
def test_accepted_with_loopback_opened(url: str, expected: tuple[str, int, str]) -> None:
    assert expected == parts(url, OPENED)


@pytest.mark.parametrize(
    ("url", "expected", "forbidden"),
    [
        ("https://127.1:9443/cb", "ip-literal", True),
        ("https://2130706433:9443/", "ip-literal", True),
        ("https://0x7f000001/", "ip-literal", True),
        ("https://0x7f.0x0.0x0.0x1/", "ip-literal", True),
        ("https://0177.0.0.1/", "ip-literal", True),
        ("https://127.0.0.01/", "ip-literal", True),
        ("https://127.0.0.1./", "ip-literal", True),
        ("https://127.0.0.0x/", "ip-literal", True),
        ("https://[::1]:9443/cb", "ip-literal", True),
        ("https://[::ffff:127.0.0.1]/", "ip-literal", True),
        ("https://[127.0.0.1]/", "ip-literal", True),
        ("https://10.0.0.1:9443/cb", "ip-literal", True),
        ("https://126.255.255.255/", "ip-literal", True),
        ("https://128.0.0.0/", "ip-literal", True),
        ("https://8.8.8.8/", "ip-literal", True),
        ("https://127.0.0.1:22/cb", "port-not-allowed", True),
        ("http://127.0.0.1:9443/cb", "not-https", False),
        ("https://ab--c/", "bad-idna", False),
        ("https://user@localhost/", "userinfo", False),
    ],
)
def test_refused_with_loopback_opened(url: str, expected: str, *, forbidden: bool) -> None:
    assert (expected, forbidden) == (reason(url, OPENED), refused(url, OPENED).is_forbidden)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://[::1]/", "::1"),
        ("https://[::1]:9443/", "::1"),
        ("https://[2001:DB8:0:0:0:0:0:1]/", "2001:db8::1"),
        ("https://[::127.0.0.1]/", "::7f00:1"),
    ],
)
def test_ipv6_literal_in_opened_network_is_kept_in_one_spelling(url: str, expected: str) -> None:
    assert expected == parse_callback(url, OPENED_IPV6).host


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        ("[fe80::1%25eth0]", "ip-literal"),
        ("[fe80::1%eth0]", "ip-literal"),
        ("[::ffff:8.8.8.8]", "ip-literal"),
        ("[::ffff:808:808]", "ip-literal"),
        ("[v1.x]", "ip-literal"),
        ("[]", "ip-literal"),
        ("[1::2::3]", "ip-literal"),
        ("[::1", "ip-literal"),
        ("::1]", "ip-literal"),
        ("::1", "ip-literal"),
        ("[::1]x", "ip-literal"),
        ("x[::1]", "ip-literal"),
        ("[::1]:", "bad-port"),
        ("[::1]:0443", "bad-port"),
        ("[::1]:443:80", "bad-port"),
        ("[::1]:22", "port-not-allowed"),
        ("1.1.1.1", "ip-literal"),
    ],
)
def test_other_brackets_are_refused_with_all_of_ipv6_opened(authority: str, expected: str) -> None:
    assert expected == reason(f"https://{authority}/", OPENED_IPV6)


@pytest.mark.parametrize(
    ("url", "policy"),
    [
        ("https://reviews.example.net/", POLICY),
        ("https://REVIEWS.example.net.:8080/", POLICY),
        ("https://127.0.0.1:8080/", replace(OPENED, own_host="127.0.0.1")),
        ("https://[0::1]:8080/", replace(OPENED_IPV6, own_host="::1")),
    ],
)
def test_the_service_does_not_call_itself(url: str, policy: CallbackPolicy) -> None:
    assert "own-host" == reason(url, policy)


def test_another_port_of_the_own_host_is_another_service() -> None:
    assert 8443 == parse_callback("https://reviews.example.net:8443/", POLICY).port


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("xn--bcher-kva.example.org", None),
        ("XN--BCHER-KVA.example.org", None),
        ("a.xn--p1ai", None),
        ("axn--b.org", None),
        ("xn--.org", "bad-host"),
        ("xn--bcher-kv.org", "bad-idna"),
        ("xn--abc.org", "bad-idna"),
        ("xn--abc--.org", "bad-host"),
        ("xn--a_b-xyz.org", "bad-idna"),
        ("xn--strae-oqa.xn--ls8h.org", "bad-idna"),  # an emoji is no IDNA 2008
        ("xn---bbk.org", "bad-idna"),
        ("xn--999999999999.org", "bad-idna"),
        ("a.b.r2--x.org", "bad-idna"),
    ],
)
def test_a_labels_go_to_idna_and_back(host: str, expected: str | None) -> None:
    if expected is None:
        assert host.lower() == parse_callback(f"https://{host}/", POLICY).host
    else:
        assert expected == reason(f"https://{host}/")


@pytest.mark.parametrize(
    ("host", "accepted"),
    [
        (f"{'a' * 63}.org", True),
        (f"{'a' * 64}.org", False),
        ("a." * 125 + "org", True),  # 253 characters
        ("a." * 125 + "org.", True),  # the trailing dot aside
        ("a." * 125 + "info", False),
        ("_a.b_.c__d.org", True),
        ("-a.org", False),
        ("a..org", False),
        (".", False),
    ],
)
def test_hosts_at_the_limits(host: str, *, accepted: bool) -> None:
    if accepted:
        assert host.removesuffix(".") == parse_callback(f"https://{host}/", POLICY).host
    else:
        assert "bad-host" == reason(f"https://{host}/")


@pytest.mark.parametrize("place", ["/a{}b", "/?a{}b"])
def test_path_and_query_take_what_rfc_3986_does(place: str) -> None:
    for character in sorted(set(string.printable) - set(string.whitespace)):
        target = place.format(character)
        if re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@/?-]", character):
            assert target == parse_callback(HOST + target, POLICY).target
        else:
            assert ("fragment" if character == "#" else "bad-syntax") == reason(HOST + target)


@pytest.mark.parametrize("escape", ["%", "%4", "%4g", "%g4", "%%41", "%u0041"])
def test_percent_escapes_are_whole(escape: str) -> None:
    assert "bad-syntax" == reason(f"{HOST}/{escape}")
    assert "bad-syntax" == reason(f"{HOST}/?{escape}")


def test_percent_escapes_are_kept_as_given() -> None:
    assert "/%2f%2F%41?%00" == parse_callback(f"{HOST}/%2f%2F%41?%00", POLICY).target


def test_a_long_target_with_a_fault_at_its_end_is_judged_at_once() -> None:
    """The pattern must not try every way of dividing it."""
    assert "bad-syntax" == reason(f"{HOST}/".ljust(2047, "a") + "|")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/cb", "/cb?hub.mode=x&b=c"),
        ("/cb?", "/cb?hub.mode=x&b=c"),
        ("/cb?a=1", "/cb?a=1&hub.mode=x&b=c"),
        ("/cb?a=1&", "/cb?a=1&&hub.mode=x&b=c"),
        ("/cb?a?", "/cb?a?&hub.mode=x&b=c"),
        ("/cb??", "/cb??&hub.mode=x&b=c"),
        ("/cb?hub.mode=mine", "/cb?hub.mode=mine&hub.mode=x&b=c"),
    ],
)
def test_parameters_are_added_and_overwrite_nothing(target: str, expected: str) -> None:
    added = Callback("sub.example.org", 8443, target).with_parameters("hub.mode=x&b=c")
    assert Callback("sub.example.org", 8443, expected) == added


@pytest.mark.parametrize(
    ("callback", "authority"),
    [
        (Callback("a.org", 443, "/x?y"), "a.org"),
        (Callback("a.org", 8443, "/x?y"), "a.org:8443"),
        (Callback("127.0.0.1", 8443, "/x?y"), "127.0.0.1:8443"),
        (Callback("::1", 443, "/x?y"), "[::1]"),
        (Callback("::1", 8443, "/x?y"), "[::1]:8443"),
        (Callback("localhost", 22, "/x?y"), "localhost:22"),
    ],
)
def test_stored_url_is_read_under_any_later_policy(callback: Callback, authority: str) -> None:
    assert authority == callback.authority
    assert f"https://{authority}/x?y" == callback.url
    assert callback == parse_stored(callback.url)


def test_reasons_of_policy_are_forbidden_and_the_others_bad() -> None:
    """The hub answers 403 and 400, as E1 has it."""
    errors = [CallbackRefusedError(refusal, "because") for refusal in Refusal]
    forbidden = "ip-literal port-not-allowed single-label-host special-use-domain own-host"
    assert forbidden.split() == [item.refusal.value for item in errors if item.is_forbidden]


FRAGMENTS = st.sampled_from(
    [
        *("https://", "HTTPS://", "http://", "//", "/", "\\", "?", "#", "@", ":", "[", "]", "%"),
        *("%41", "%2f", ".", "..", "-", "--", "xn--", "xn--fa-hia", "_", "a", "A", "localhost"),
        *("sub.example.org", "example", "127.0.0.1", "0x7f", "1", "::1", "::ffff:1.2.3.4", ":443"),
        *(":8443", ":0", ":22", ":65535", ":65536", ":1e3", "\u3002", "\u0661", "\uff11", "\u0130"),
        *("\x00", "\r\n", "\t", " ", "\ud800", "\u212a", "&", "=", ";", "+"),
    ]
)
TEXTS = st.one_of(
    st.text(),
    st.lists(FRAGMENTS).map("".join),
    st.lists(FRAGMENTS).map(lambda given: "https://" + "".join(given)),
    st.lists(FRAGMENTS).map(lambda given: "https://sub.example.org" + "".join(given)),
    st.text("abn019x.-_:", max_size=20).map("https://{}/".format),
    st.text(string.ascii_lowercase + string.digits + "-", max_size=20).map(
        "https://xn--{}.org/".format
    ),
    st.text(string.hexdigits + ":.", max_size=30).map("https://[{}]/".format),
)
POLICIES = st.sampled_from(
    [POLICY, OPENED, OPENED_IPV6, replace(POLICY, networks=(ip_network("0.0.0.0/0"),))]
)


@given(TEXTS, POLICIES)
@example("https://[1::]:8443?x", OPENED_IPV6)
@example("HTTPS://A.org.:443//b@c:80/../%2e?u=https://x:1/", POLICY)
def test_everybody_reads_an_accepted_callback_alike(url: str, policy: CallbackPolicy) -> None:
    """A refusal is the only error that is raised."""
    try:
        callback = parse_callback(url, policy)
    except CallbackRefusedError:
        return
    given_split, given_uri = urlsplit(url), URI.fromBytes(url.encode())
    given_host = (given_split.hostname or "").removesuffix(".")
    assert given_host == given_uri.host.decode().lower().removesuffix(".")
    assert callback.port == (given_split.port or 443) == given_uri.port

    split, uri = urlsplit(callback.url), URI.fromBytes(callback.url.encode())
    assert callback.host == split.hostname == uri.host.decode()
    assert callback.port == (split.port or 443) == uri.port
    assert callback.authority == split.netloc == uri.netloc.decode()
    assert callback.url.endswith(callback.target)

    assert callback == parse_stored(callback.url) == parse_callback(callback.url, policy)
    assert url.lower().removeprefix("https://").endswith(callback.target.lstrip("/").lower())


@pytest.mark.parametrize("url", ["", "http://a.org/", "https://a.org", "https://a.org/ ", "x"])
def test_url_without_the_stored_form_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="not a stored callback"):
        parse_stored(url)
