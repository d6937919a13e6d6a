"""The form of requests to the hub: each field, each rule, any bytes (W1 to W4, W25, H11, H16 to H18)."""

from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.callback import MAX_LENGTH, Callback, CallbackPolicy
from reviewsd.domain.subscription import Mode
from reviewsd.http1.problems import HUB_MAX_BODY as MAX_BODY
from reviewsd.websub.requests import (
    MAX_FIELDS,
    MAX_SECRET,
    HubRequest,
    HubRequestError,
    parse_request,
)

BASE_URL = "https://reviews.example.net"
POLICY = CallbackPolicy(own_host="reviews.example.net", own_ports=frozenset({443}))
FORM = b"application/x-www-form-urlencoded"
CALLBACK = "https://sub.example.org/cb?a=1"
FIELDS = {"hub.mode": "subscribe", "hub.topic": f"{BASE_URL}/feed.xml", "hub.callback": CALLBACK}


def parse(body: bytes, content_type: bytes | None = FORM) -> HubRequest:
    return parse_request(body, content_type, BASE_URL, 864_000, POLICY)


def request_with(**changed: str | None) -> HubRequest:
    """Return a valid request with hub.* fields changed, added, or (None) left out."""
    return parse(encoded(**changed))


def encoded(**changed: str | None) -> bytes:
    fields = FIELDS | {f"hub.{name}": value for name, value in changed.items()}
    return urlencode({name: value for name, value in fields.items() if value is not None}).encode()


def refusal_of(body: bytes, content_type: bytes | None = FORM) -> tuple[int, str]:
    with pytest.raises(HubRequestError) as error:
        parse(body, content_type)
    assert error.value.text.isprintable()
    return error.value.status, error.value.text


def test_request_has_the_values_of_its_fields() -> None:
    """W1, W2, W3, W6."""
    assert HubRequest(
        mode=Mode.SUBSCRIBE,
        topic="/feed.xml",
        requested_topic=f"{BASE_URL}/feed.xml",
        callback=Callback("sub.example.org", 443, "/cb?a=1"),
        lease_seconds=86_400,
        secret=b"s\xc3\xa9same",
        verify_token=None,
    ) == request_with(lease_seconds="86400", secret="s\u00e9same")


def test_lease_and_secret_are_optional() -> None:
    request = request_with()
    assert (864_000, None) == (request.lease_seconds, request.secret)


def test_unsubscribe_ignores_lease_and_secret() -> None:
    """W25."""
    request = request_with(mode="unsubscribe", lease_seconds="soon", secret="s")
    assert (Mode.UNSUBSCRIBE, 864_000, None) == (
        request.mode,
        request.lease_seconds,
        request.secret,
    )


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
@pytest.mark.parametrize("token", ["abc", "\u00e9&=% \0", "x" * 255, "\u00e9" * 127])
def test_verify_token_is_encoded_as_utf_8(mode: str, token: str) -> None:
    """W4: subscribers of PubSubHubbub 0.3 refuse a verification without it."""
    assert token.encode() == request_with(mode=mode, verify_token=token).verify_token


@pytest.mark.parametrize("token", [None, "", "x" * 256, "\u00e9" * 128])
def test_empty_or_too_long_verify_token_is_ignored(token: str | None) -> None:
    """A hub need not know this parameter, so no request is refused for it."""
    assert request_with(verify_token=token).verify_token is None


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
def test_case_and_parameters_of_the_media_type_are_ignored(content_type: bytes) -> None:
    assert Mode.SUBSCRIBE is parse(encoded(), content_type).mode


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
def test_other_media_type_is_refused_with_415(content_type: bytes | None) -> None:
    assert (415, f"Content-Type must be {FORM.decode()}") == refusal_of(encoded(), content_type)


def test_longest_callback_fits_with_all_characters_escaped() -> None:
    """The reason for 8 KiB (H16)."""
    url = "https://sub.example.org/".ljust(MAX_LENGTH, "a")
    everything = "".join(f"%{ord(character):02X}" for character in url)
    body = f"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback={everything}".encode()
    assert len(body) < MAX_BODY
    assert url == parse(body).callback.url


def test_form_has_at_most_8_kib() -> None:
    body = encoded() + b"&x="
    assert Mode.SUBSCRIBE is parse(body.ljust(MAX_BODY, b"x")).mode
    assert (413, "the body must have at most 8192 bytes, and a GET has none") == refusal_of(
        body.ljust(MAX_BODY + 1, b"x")
    )


def test_form_has_at_most_32_fields() -> None:
    """Including those that the hub does not know."""
    body = encoded() + b"&x=1" * (MAX_FIELDS - len(FIELDS))
    assert Mode.SUBSCRIBE is parse(body).mode
    assert (400, "the form must have at most 32 fields") == refusal_of(body + b"&x=1")
    assert (400, "the form must have at most 32 fields") == refusal_of(b"&" * MAX_BODY)


@pytest.mark.parametrize(
    "other",
    [b"x=1", b"=", b"", b"hub.verify=sync", b"hub.mode%00=x", b"HUB.MODE=publish", b"hub.mode[]=x"],
)
def test_unknown_field_is_ignored(other: bytes) -> None:
    """Also if it is repeated (W4)."""
    assert request_with() == parse(b"&".join((other, encoded(), other)))


@pytest.mark.parametrize(
    "text", [b"%ff", b"%C0%AF", b"%ED%A0%80", b"%c3", b"\xff", b"caf\xe9", b"%F5%80%80%80"]
)
@pytest.mark.parametrize("name", [b"hub.secret=", b"hub.callback=", b"x=", b""])
def test_form_must_be_utf_8(name: bytes, text: bytes) -> None:
    assert (400, "the form must be UTF-8") == refusal_of(encoded() + b"&" + name + text)


@pytest.mark.parametrize("text", [b"%", b"%4", b"%zz", b"%u0041", b"%%41", b"a%"])
@pytest.mark.parametrize("name", [b"hub.secret=", b"hub.topic=", b"x=", b""])
def test_broken_percent_escape_is_refused(name: bytes, text: bytes) -> None:
    assert (400, "the form has a broken percent-escape") == refusal_of(
        encoded() + b"&" + name + text
    )


@pytest.mark.parametrize("name", ["hub.mode", "hub.topic", "hub.callback"])
def test_missing_field_is_named(name: str) -> None:
    assert (400, f"{name}: must be given") == refusal_of(
        encoded(**{name.removeprefix("hub."): None})
    )
    assert (400, "hub.mode: must be given") == refusal_of(b"")


@pytest.mark.parametrize(
    "name", ["hub.mode", "hub.topic", "hub.callback", "hub.lease_seconds", "hub.secret"]
)
@pytest.mark.parametrize("escaped", [False, True])
def test_repeated_field_is_refused(name: str, escaped: bool) -> None:
    body = encoded(lease_seconds="300", secret="s")
    (field,) = (pair for pair in body.split(b"&") if pair.startswith(name.encode()))
    if escaped:
        field = field.replace(b"hub", b"%68%75%62")
    assert (400, f"{name}: must be given once") == refusal_of(body + b"&" + field)


# Mode ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode", ["", "Subscribe", "SUBSCRIBE", " subscribe", "denied", "subscribe\0", "subscribe\r\n"]
)
def test_other_mode_is_refused(mode: str) -> None:
    assert (400, "hub.mode: must be subscribe or unsubscribe") == refusal_of(encoded(mode=mode))


def test_publish_is_explained() -> None:
    status, text = refusal_of(b"hub.mode=publish&hub.url=" + quote(BASE_URL).encode())
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


@pytest.mark.parametrize(("text", "path"), NAMED)
def test_topic_is_a_url_or_a_relative_reference(text: str, path: str) -> None:
    """The text is kept, because the verification returns it (H17)."""
    request = request_with(topic=text)
    assert (path, text) == (request.topic, request.requested_topic)


@pytest.mark.parametrize("topic", UNKNOWN, ids=repr)
def test_unknown_topic_is_refused_with_the_list_of_topics(topic: str) -> None:
    """W22."""
    rule = (
        "hub.topic: must be one of https://reviews.example.net/feed.xml, "
        "https://reviews.example.net/api/feed.json, https://reviews.example.net/reviews.json"
    )
    assert (400, rule) == refusal_of(encoded(topic=topic))


# Callback -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("callback", "status"),
    [
        ("http://sub.example.org/cb", 400),
        ("", 400),
        ("https://sub.example.org/\r\nX-Evil: 1", 400),
        ("https://127.0.0.1/", 403),
        (f"{BASE_URL}/cb", 403),
    ],
)
def test_callback_is_refused_with_403_by_policy_and_400_by_syntax(
    callback: str, status: int
) -> None:
    """W21, contract 5."""
    response_status, text = refusal_of(encoded(callback=callback))
    assert status == response_status
    assert text.startswith("hub.callback: ")


def test_path_and_query_of_the_callback_are_kept() -> None:
    """With escapes, hub.* parameters and order (W6, W7)."""
    target = "/a%2fb/%7E?z=1&hub.mode=x&a=%20+;&&="
    assert target == request_with(callback=f"https://sub.example.org{target}").callback.target


# Lease --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "granted"),
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
def test_lease_is_clamped_to_the_bounds(text: str, granted: int) -> None:
    """H18."""
    assert granted == request_with(lease_seconds=text).lease_seconds


@pytest.mark.parametrize(
    "text",
    [
        *("0", "00", "-1", "+1", " 300", "300 ", "1e3", "1_000", "300.0", "0x12c", "300\n", "300\0"),
        *("\u0663\u0660\u0660", "\uff13\uff10\uff10", "\u00b3", "soon", 5000 * "0", "Infinity"),
    ],
)  # fmt: skip
def test_lease_must_be_a_positive_integer(text: str) -> None:
    assert (
        400,
        "hub.lease_seconds: must be a positive decimal integer, a number of seconds",
    ) == refusal_of(encoded(lease_seconds=text))


# Secret -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret", ["s", MAX_SECRET * "s", 99 * "\u00e9" + "s", "\0\r\n", " ", "\U0001f511"]
)
def test_secret_has_up_to_199_bytes(secret: str) -> None:
    """H11."""
    assert secret.encode() == request_with(secret=secret).secret


@pytest.mark.parametrize("secret", [200 * "s", 100 * "\u00e9", 50 * "\U0001f511", 2000 * "s"])
@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_longer_secret_is_refused(mode: str, secret: str) -> None:
    assert (400, "hub.secret: must have at most 199 bytes, counted in UTF-8") == refusal_of(
        encoded(mode=mode, secret=secret)
    )


def test_empty_secret_counts_as_none() -> None:
    assert request_with(secret="").secret is None


# Any form -----------------------------------------------------------------------------------------

NAMES = st.sampled_from([*FIELDS, "hub.lease_seconds", "hub.secret", "x", ""])
VALUES = st.one_of(
    st.text(max_size=30), st.sampled_from([*FIELDS.values(), "unsubscribe", "/feed.xml", "300"])
)


@given(st.dictionaries(NAMES, VALUES), st.binary(max_size=20))
@example({}, b"<script>alert(1)</script>")
def test_any_form_is_accepted_or_refused_in_a_line(fields: dict[str, str], rubbish: bytes) -> None:
    """The line repeats nothing of the form."""
    body = urlencode(FIELDS | fields).encode() + b"&" + rubbish
    try:
        request = parse(body)
    except HubRequestError as error:
        status, text = error.status, error.text
    else:
        status, text = 202, ""
        assert request.topic in {"/feed.xml", "/api/feed.json", "/reviews.json"}
        assert 300 <= request.lease_seconds <= 2_592_000
        assert request.secret is None or 0 < len(request.secret) < 200
    assert status in {202, 400, 403}
    assert text.isascii()
    assert text.isprintable()
    assert not {*"<>\"'\\"} & {*text}


def escape_all(value: str) -> bytes:
    return "".join(f"%{byte:02x}" for byte in value.encode()).encode()


@given(st.fixed_dictionaries({}, optional={"secret": st.text(max_size=49)}))
def test_form_means_the_same_in_any_encoding(changed: dict[str, Any]) -> None:
    fields = FIELDS | {f"hub.{name}": value for name, value in changed.items()}

    requests = [
        parse(b"&".join(encode(name) + b"=" + encode(value) for name, value in fields.items()))
        for encode in (
            escape_all,
            lambda text: quote(text, safe="").encode(),
            lambda text: quote_from_bytes(text.encode(), safe=" ").replace(" ", "+").encode(),
        )
    ]

    assert 3 * [request_with(**changed)] == requests
