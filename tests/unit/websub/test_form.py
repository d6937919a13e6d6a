"""Requests to the hub: every field, every rule, any bytes (W1 to W4, W25, H11, H16 to H18)."""

from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.callback import MAX_LENGTH, Callback, CallbackPolicy
from reviewsd.domain.subscription import Mode
from reviewsd.http1.problems import HUB_MAX_BODY as MAX_BODY
from reviewsd.websub.form import (
    MAX_FIELDS,
    MAX_SECRET,
    FormRules,
    HubRequest,
    HubRequestError,
    read_form,
)

BASE_URL = "https://reviews.example.net"
RULES = FormRules(
    base_url=BASE_URL,
    callbacks=CallbackPolicy(own_host="reviews.example.net", own_ports=frozenset({443})),
    lease_default=864_000,
    lease_min=300,
    lease_max=2_592_000,
)
FORM = b"application/x-www-form-urlencoded"
CALLBACK = "https://sub.example.org/cb?a=1"
FIELDS = {"hub.mode": "subscribe", "hub.topic": f"{BASE_URL}/feed.xml", "hub.callback": CALLBACK}


def read(body: bytes, content_type: bytes | None = FORM) -> HubRequest:
    return read_form(body, content_type, RULES)


def asked(**changed: str | None) -> HubRequest:
    """The valid request with hub.* fields changed, added, or (None) left out."""
    return read(encoded(**changed))


def encoded(**changed: str | None) -> bytes:
    fields = FIELDS | {f"hub.{name}": value for name, value in changed.items()}
    return urlencode({name: value for name, value in fields.items() if value is not None}).encode()


def refused(body: bytes, content_type: bytes | None = FORM) -> tuple[int, str]:
    with pytest.raises(HubRequestError) as refusal:
        read(body, content_type)
    assert refusal.value.text.isprintable()
    return refusal.value.status, refusal.value.text


def test_a_request_is_what_its_fields_say() -> None:
    """W1, W2, W3, W6."""
    assert HubRequest(
        mode=Mode.SUBSCRIBE,
        topic="/feed.xml",
        topic_given=f"{BASE_URL}/feed.xml",
        callback=Callback("sub.example.org", 443, "/cb?a=1"),
        lease_seconds=86_400,
        secret=b"s\xc3\xa9same",
        verify_token=None,
    ) == asked(lease_seconds="86400", secret="s\u00e9same")


def test_lease_and_secret_may_be_left_out() -> None:
    request = asked()

    assert (864_000, None) == (request.lease_seconds, request.secret)


def test_an_unsubscribe_needs_neither_lease_nor_secret_and_ignores_both() -> None:
    """W25."""
    request = asked(mode="unsubscribe", lease_seconds="soon", secret="s")

    assert (Mode.UNSUBSCRIBE, 864_000, None) == (
        request.mode,
        request.lease_seconds,
        request.secret,
    )


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
@pytest.mark.parametrize("token", ["abc", "\u00e9&=% \0", "x" * 255, "\u00e9" * 127])
def test_verify_token_is_kept_as_bytes(mode: str, token: str) -> None:
    """W4: subscribers of PubSubHubbub 0.3 refuse a verification without it."""
    assert token.encode() == asked(mode=mode, verify_token=token).verify_token


@pytest.mark.parametrize("token", [None, "", "x" * 256, "\u00e9" * 128])
def test_verify_token_that_is_empty_or_too_long_is_ignored(token: str | None) -> None:
    """It is a parameter that this hub need not understand, so nothing is refused for it."""
    assert asked(verify_token=token).verify_token is None


def test_other_parameters_of_version_0_3_are_ignored() -> None:
    """W4: ``hub.verify`` comes twice there."""
    body = encoded() + b"&hub.verify=sync&hub.verify=async"
    assert asked() == read(body)


# The form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type",
    [
        FORM,
        b"Application/X-WWW-Form-URLEncoded",
        FORM + b"; charset=utf-8",
        FORM + b";charset=ISO-8859-1",
        FORM + b" ;",
        b"\t" + FORM + b" ",
    ],
)
def test_case_and_parameters_of_the_media_type_are_tolerated(content_type: bytes) -> None:
    assert Mode.SUBSCRIBE is read(encoded(), content_type).mode


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        b"",
        b";",
        b"text/plain",
        b"application/json",
        b"multipart/form-data; boundary=x",
        b"multipart/form-data",
        FORM + b", " + FORM,
        FORM + b"x",
        b"x; " + FORM,
        b"application/x-www-form-urlencoded\xff",
    ],
)
def test_another_media_type_is_a_415_that_names_the_one(content_type: bytes | None) -> None:
    assert (415, f"Content-Type must be {FORM.decode()}") == refused(encoded(), content_type)


def test_the_longest_callback_fits_with_everything_escaped() -> None:
    """H16's reason for 8 KiB."""
    url = "https://sub.example.org/".ljust(MAX_LENGTH, "a")
    everything = "".join(f"%{ord(character):02X}" for character in url)
    body = f"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback={everything}".encode()

    assert len(body) < MAX_BODY
    assert url == read(body).callback.url


def test_a_form_has_8_kib_and_no_more() -> None:
    body = encoded() + b"&x="

    assert Mode.SUBSCRIBE is read(body.ljust(MAX_BODY, b"x")).mode
    assert (413, "the body must have at most 8192 bytes, and none with GET") == refused(
        body.ljust(MAX_BODY + 1, b"x")
    )


def test_a_form_has_32_fields_and_no_more() -> None:
    """Among them those that are not the hub's."""
    body = encoded() + b"&x=1" * (MAX_FIELDS - len(FIELDS))

    assert Mode.SUBSCRIBE is read(body).mode
    assert (400, "the form must have at most 32 fields") == refused(body + b"&x=1")
    assert (400, "the form must have at most 32 fields") == refused(b"&" * MAX_BODY)


@pytest.mark.parametrize(
    "other",
    [b"x=1", b"=", b"", b"hub.verify=sync", b"hub.mode%00=x", b"HUB.MODE=publish", b"hub.mode[]=x"],
)
def test_a_field_that_the_hub_does_not_know_is_ignored(other: bytes) -> None:
    """W4, also when it comes twice."""
    assert asked() == read(b"&".join((other, encoded(), other)))


@pytest.mark.parametrize(
    "text", [b"%ff", b"%C0%AF", b"%ED%A0%80", b"%c3", b"\xff", b"caf\xe9", b"%F5%80%80%80"]
)
@pytest.mark.parametrize("name", [b"hub.secret=", b"hub.callback=", b"x=", b""])
def test_what_is_not_utf_8_is_no_form(name: bytes, text: bytes) -> None:
    assert (400, "the form must be UTF-8") == refused(encoded() + b"&" + name + text)


@pytest.mark.parametrize("text", [b"%", b"%4", b"%zz", b"%u0041", b"%%41", b"a%"])
@pytest.mark.parametrize("name", [b"hub.secret=", b"hub.topic=", b"x=", b""])
def test_a_broken_percent_escape_is_no_form(name: bytes, text: bytes) -> None:
    assert (400, "the form has a broken percent-escape") == refused(encoded() + b"&" + name + text)


def test_names_may_be_escaped_too() -> None:
    assert asked() == read(encoded().replace(b"hub.", b"%68ub%2E"))


@pytest.mark.parametrize("name", ["hub.mode", "hub.topic", "hub.callback"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    assert (400, f"{name}: must be given") == refused(encoded(**{name.removeprefix("hub."): None}))
    assert (400, "hub.mode: must be given") == refused(b"")


@pytest.mark.parametrize(
    "name", ["hub.mode", "hub.topic", "hub.callback", "hub.lease_seconds", "hub.secret"]
)
@pytest.mark.parametrize("escaped", [False, True])
def test_a_field_that_comes_twice_is_refused_even_with_one_value(name: str, escaped: bool) -> None:  # noqa: FBT001
    body = encoded(lease_seconds="300", secret="s")
    (again,) = (piece for piece in body.split(b"&") if piece.startswith(name.encode()))
    if escaped:
        again = again.replace(b"hub", b"%68%75%62")

    assert (400, f"{name}: must be given once") == refused(body + b"&" + again)


# Mode ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode", ["", "Subscribe", "SUBSCRIBE", " subscribe", "denied", "subscribe\0", "subscribe\r\n"]
)
def test_there_are_two_modes(mode: str) -> None:
    assert (400, "hub.mode: must be subscribe or unsubscribe") == refused(encoded(mode=mode))


def test_publish_is_explained() -> None:
    status, text = refused(b"hub.mode=publish&hub.url=" + quote(BASE_URL).encode())

    assert 400 == status
    assert "this hub publishes by itself when the data changes" in text


# Topic --------------------------------------------------------------------------------------------

NAMED = [
    (f"{BASE_URL}/feed.xml", "/feed.xml"),
    (f"{BASE_URL}/api/feed.json", "/api/feed.json"),
    (f"{BASE_URL}/reviews.json", "/reviews.json"),
    ("//reviews.example.net/reviews.json", "/reviews.json"),
    ("/feed.xml", "/feed.xml"),
    ("feed.xml", "/feed.xml"),
    ("api/feed.json", "/api/feed.json"),
    ("./feed.xml", "/feed.xml"),
    ("../../feed.xml", "/feed.xml"),
    ("/api/../feed.xml", "/feed.xml"),
    ("x/./../api/./feed.json", "/api/feed.json"),
]
UNKNOWN = [
    "",
    "/",
    ".",
    "/insights.json",
    "/feed.xml?",
    "/feed.xml?a=1",
    "/feed.xml#",
    "/feed.xml/",
    "/feed.xml/.",
    "/feed.xml/x/..",
    "/feed.xml;",
    "/Feed.xml",
    "/FEED.XML",
    "/api//feed.json",
    "//feed.xml",
    "///feed.xml",
    "/feed%2Exml",
    "/%66eed.xml",
    "/x%2F../feed.xml",
    "\\feed.xml",
    "/x\\../feed.xml",
    " /feed.xml",
    "/feed.xml ",
    "/feed.xml\n",
    "/feed\t.xml",
    "/feed\r\n.xml",
    "/feed.xml\0",
    "/x y/../feed.xml",
    "/f\u0435ed.xml",
    "https:feed.xml",
    "https:/feed.xml",
    "https:///feed.xml",
    "x:/../feed.xml",
    f"{BASE_URL}feed.xml",
    f"{BASE_URL}:443/feed.xml",
    f"{BASE_URL}./feed.xml",
    f"{BASE_URL}/./feed.xml",
    f"{BASE_URL}//feed.xml",
    f"{BASE_URL}/feed.xml?",
    f"{BASE_URL}@evil.example/feed.xml",
    f"{BASE_URL}.evil.example/feed.xml",
    "https://user@reviews.example.net/feed.xml",
    "HTTPS://reviews.example.net/feed.xml",
    "https://REVIEWS.example.net/feed.xml",
    "http://reviews.example.net/feed.xml",
    "https://evil.example/feed.xml",
    "//evil.example/feed.xml",
    f"//evil.example/{BASE_URL}/feed.xml",
]


@pytest.mark.parametrize(("given_topic", "path"), NAMED)
def test_a_topic_is_named_by_its_url_or_by_a_reference(given_topic: str, path: str) -> None:
    """H17; what was sent is kept, because the verification echoes it."""
    request = asked(topic=given_topic)

    assert (path, given_topic) == (request.topic, request.topic_given)


@pytest.mark.parametrize("topic", UNKNOWN, ids=repr)
def test_an_unknown_topic_is_a_400_that_lists_the_three(topic: str) -> None:
    """W22."""
    rule = (
        "hub.topic: must be one of https://reviews.example.net/feed.xml, "
        "https://reviews.example.net/api/feed.json, https://reviews.example.net/reviews.json"
    )
    assert (400, rule) == refused(encoded(topic=topic))


# Callback -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("callback", "status"),
    [
        ("http://sub.example.org/cb", 400),
        ("", 400),
        ("https://sub.example.org/cb#f", 400),
        ("https://sub.example.org/\r\nX-Evil: 1", 400),
        ("https://sub.example.org/\0", 400),
        ("https://sub.example.org/caf\u00e9", 400),
        ("https://a@sub.example.org/", 400),
        ("https://sub.example.org/" + MAX_LENGTH * "a", 400),
        ("https://sub.example.org:22/", 403),
        ("https://127.0.0.1/", 403),
        ("https://[::1]/", 403),
        ("https://sub/", 403),
        ("https://sub.internal/", 403),
        (f"{BASE_URL}/cb", 403),
    ],
)
def test_a_refused_callback_is_a_403_by_policy_and_a_400_by_form(
    callback: str, status: int
) -> None:
    """W21, contract 5."""
    answered, text = refused(encoded(callback=callback))

    assert status == answered
    assert text.startswith("hub.callback: ")


def test_path_and_query_of_a_callback_are_kept_byte_for_byte() -> None:
    """W6, W7: also the escapes, a hub.* parameter of its own, and the order."""
    target = "/a%2fb/%7E?z=1&hub.mode=x&a=%20+;&&="

    assert target == asked(callback=f"https://sub.example.org{target}").callback.target


# Lease --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_lease", "granted"),
    [
        ("", 864_000),
        ("1", 300),
        ("299", 300),
        ("300", 300),
        ("301", 301),
        ("0000000000000000864001", 864_001),
        ("2592000", 2_592_000),
        ("2592001", 2_592_000),
        (5000 * "9", 2_592_000),
        (5000 * "0" + "1", 300),
    ],
)
def test_a_lease_is_clamped_to_the_bounds(given_lease: str, granted: int) -> None:
    """H18."""
    assert granted == asked(lease_seconds=given_lease).lease_seconds


@pytest.mark.parametrize(
    "given_lease",
    [
        *("0", "00", "-1", "+1", " 300", "300 ", "1e3", "1_000", "300.0", "0x12c", "300\n", "300\0"),
        *("\u0663\u0660\u0660", "\uff13\uff10\uff10", "\u00b3", "soon", 5000 * "0", "Infinity"),
    ],
)  # fmt: skip
def test_a_lease_that_is_no_positive_integer_is_refused(given_lease: str) -> None:
    assert (
        400,
        "hub.lease_seconds: must be a positive decimal integer, a number of seconds",
    ) == refused(encoded(lease_seconds=given_lease))


# Secret -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret", ["s", MAX_SECRET * "s", 99 * "\u00e9" + "s", "\0\r\n", " ", "\U0001f511"]
)
def test_a_secret_has_up_to_199_bytes_of_any_text(secret: str) -> None:
    """H11."""
    assert secret.encode() == asked(secret=secret).secret


@pytest.mark.parametrize("secret", [200 * "s", 100 * "\u00e9", 50 * "\U0001f511", 2000 * "s"])
@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_a_longer_secret_is_refused_and_bytes_count(mode: str, secret: str) -> None:
    assert (400, "hub.secret: must have at most 199 bytes, counted in UTF-8") == refused(
        encoded(mode=mode, secret=secret)
    )


def test_an_empty_secret_is_none() -> None:
    assert asked(secret="").secret is None


# Anything -----------------------------------------------------------------------------------------

NAMES = st.sampled_from([*FIELDS, "hub.lease_seconds", "hub.secret", "x", ""])
VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from([*FIELDS.values(), "unsubscribe", "/feed.xml", "300"]),
)


@given(st.dictionaries(NAMES, VALUES), st.binary(max_size=20))
@example({}, b"<script>alert(1)</script>")
def test_whatever_is_sent_is_read_or_refused_in_one_line_that_repeats_nothing(
    fields: dict[str, str], rubbish: bytes
) -> None:
    body = urlencode(FIELDS | fields).encode() + b"&" + rubbish
    try:
        request = read(body)
    except HubRequestError as refusal:
        status, text = refusal.status, refusal.text
    else:
        status, text = 202, ""
        assert request.topic in {"/feed.xml", "/api/feed.json", "/reviews.json"}
        assert 300 <= request.lease_seconds <= 2_592_000
        assert request.secret is None or 0 < len(request.secret) < 200
    assert status in {202, 400, 403}
    assert text.isascii()
    assert text.isprintable()
    assert not {*"<>\"'\\"} & {*text}


def respelt(value: str) -> bytes:
    """Everything escaped."""
    return "".join(f"%{byte:02x}" for byte in value.encode()).encode()


@given(st.fixed_dictionaries({}, optional={"secret": st.text(max_size=49)}))
def test_a_form_means_the_same_in_every_encoding(changed: dict[str, Any]) -> None:
    fields = FIELDS | {f"hub.{name}": value for name, value in changed.items()}

    readings = [
        read(b"&".join(encode(name) + b"=" + encode(value) for name, value in fields.items()))
        for encode in (
            respelt,
            lambda text: quote(text, safe="").encode(),
            lambda text: quote_from_bytes(text.encode(), safe=" ").replace(" ", "+").encode(),
        )
    ]

    assert 3 * [asked(**changed)] == readings
