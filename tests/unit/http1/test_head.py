"""The grammar of a request's head, which leaves nothing that a proxy may read differently.

RFC 9112 2 to 6, RFC 9110 5 to 7 and 10.1.1; S3 and S7 of the specification.
"""

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import head, problems
from reviewsd.http1.head import (
    ASTERISK,
    MAX_FIELDS,
    MAX_HEAD,
    READ,
    Fields,
    RefusedError,
    RequestLine,
    read_fields,
    read_line,
)
from reviewsd.http1.problems import Problem
from tests.support.examples import examples

HOST = b"Host: localhost\r\n"

CONTROLS = [bytes([byte]) for byte in (*range(0x20), 0x7F)]
UPPER_CASE = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS = set(b"0123456789")
TCHARS = set(b"!#$%&'*+-.^_`|~") | DIGITS | UPPER_CASE | set(b"abcdefghijklmnopqrstuvwxyz")
VCHARS = set(range(0x21, 0x7F))


def fields_of(*lines: bytes, host: bytes = HOST, old: bool = False) -> Fields:
    """Return the fields of some lines, which have no line ends."""
    return read_fields(host + b"".join(line + b"\r\n" for line in lines), old=old)


def refused(read: Callable[[], object]) -> Problem | None:
    """Return the problem of a refusal; None without one."""
    try:
        read()
    except RefusedError as error:
        return error.problem
    return None


def line_problem(line: bytes) -> Problem | None:
    return refused(lambda: read_line(line))


def fields_problem(*lines: bytes, host: bytes = HOST, old: bool = False) -> Problem | None:
    return refused(lambda: fields_of(*lines, host=host, old=old))


def passed(read: Callable[[bytes], object]) -> set[int]:
    """Return the bytes that are not refused."""
    return {byte for byte in range(256) if refused(partial(read, bytes([byte]))) is None}


# The request line (RFC 9112 3) --------------------------------------------------------------------


def test_line_has_method_target_and_version() -> None:
    expected = RequestLine(b"GET", b"/a/b", b"c=d&e", None, old=False)
    assert expected == read_line(b"GET /a/b?c=d&e HTTP/1.1")


@pytest.mark.parametrize(
    "target",
    [
        "/api/reviews/search?query=Größe".encode(),
        "/größe".encode("latin-1"),
        "/?query=口".encode(),
        b"/?query=two words",
        b"/?query=a&since=x HTTP/1.1",
    ],
)
def test_unescaped_target_is_refused_with_the_remedy(target: bytes) -> None:
    """curl sends an address as it was typed."""
    assert problems.UNESCAPED == line_problem(b"GET %b HTTP/1.1" % target)
    assert 400 == problems.UNESCAPED.status
    assert "percent-encode" in problems.UNESCAPED.detail


def test_http_1_0_is_recognized() -> None:
    assert not read_line(b"GET / HTTP/1.1").old
    assert read_line(b"GET / HTTP/1.0").old


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/", b"/", b""),
        (b"/?", b"/", b""),
        (b"/?a", b"/", b"a"),
        (b"/a?b?c", b"/a", b"b?c"),
        (b"/a?/b//c", b"/a", b"/b//c"),
        (b"//a", b"//a", b""),
        (b"//evil.example/a", b"//evil.example/a", b""),
        (b"/a%2Fb%00%zz", b"/a%2Fb%00%zz", b""),
        (b"/../a/./b", b"/../a/./b", b""),
        (b"/http://a/b", b"/http://a/b", b""),
        (b"/a:b@c;d=e,f", b"/a:b@c;d=e,f", b""),
        (b'/"<>[]\\^`{|}', b'/"<>[]\\^`{|}', b""),
        (b"/*", b"/*", b""),
        (b"/" + 20_000 * b"a", b"/" + 20_000 * b"a", b""),
    ],
)
def test_path_and_query_are_not_decoded(target: bytes, path: bytes, query: bytes) -> None:
    """Routes decide about escapes, doubled slashes and dots (S8)."""
    assert RequestLine(b"GET", path, query, None, old=False) == read_line(
        b"GET %b HTTP/1.1" % target
    )


@pytest.mark.parametrize(
    ("target", "authority", "path", "query"),
    [
        (b"http://localhost/a?b", b"localhost", b"/a", b"b"),
        (b"https://localhost:8443/a", b"localhost:8443", b"/a", b""),
        (b"HTTP://LocalHost/A", b"LocalHost", b"/A", b""),
        (b"hTTpS://localhost/", b"localhost", b"/", b""),
        (b"http://localhost", b"localhost", b"/", b""),
        (b"http://localhost:80", b"localhost:80", b"/", b""),
        (b"http://localhost:/", b"localhost:", b"/", b""),
        (b"http://localhost?a=/b", b"localhost", b"/", b"a=/b"),
        (b"http://localhost?", b"localhost", b"/", b""),
        (b"http://localhost//a", b"localhost", b"//a", b""),
        (b"http://localhost/http://b/", b"localhost", b"/http://b/", b""),
        (b"http://[::1]/a", b"[::1]", b"/a", b""),
        (b"http://[2001:db8::1]:8080?a", b"[2001:db8::1]:8080", b"/", b"a"),
        (b"http://127.0.0.1:1/a@b", b"127.0.0.1:1", b"/a@b", b""),
    ],
)
def test_absolute_form_has_an_authority(
    target: bytes, authority: bytes, path: bytes, query: bytes
) -> None:
    expected = RequestLine(b"GET", path, query, authority, old=False)
    assert expected == read_line(b"GET %b HTTP/1.1" % target)


@pytest.mark.parametrize(
    "target",
    [
        *(b"a", b"a/b", b"?a", b"localhost", b"localhost:80", b"[::1]:80", b"../a", b"\\a"),
        b"%2Fa",
        *(b"ftp://localhost/", b"ws://localhost/", b"file:///etc/passwd", b"javascript:1"),
        *(b"http", b"http:", b"http:/", b"http:/a", b"http://", b"http:///a", b"http://?a"),
        *(b"http:localhost", b"http:\\\\localhost/", b"xhttp://localhost/"),
        b"https+x://localhost/",
        *(b"http://user@localhost/", b"http://user:word@localhost/", b"http://@localhost/"),
        *(b"http://:80/", b"http://:/", b"http://localhost:x/", b"http://localhost:-1/"),
        *(b"http://localhost:123456/", b"http://localhost:1:2/", b"http://localhost\\@evil/"),
        *(b"http://[::1/", b"http://::1/", b"http://[::1]x/", b"http://[]/", b"http://[1]/"),
        *(b"http://[::g]/", b"http://[v1.a]/", b"http://[fe80::1%25eth0]/", b"http://[[::1]]/"),
        *(b"http://loc%al/", b'http://"/', b"http://<a>/", b"http://a|b/"),
        # some servers cut a fragment off, others read it as a part of the path (RFC 9112 3.2)
        *(b"/#", b"/a#b", b"/a?b#c", b"#", b"#/", b"http://localhost/#", b"http://localhost#a"),
    ],
)
def test_malformed_target_is_refused(target: bytes) -> None:
    for method in (b"GET", b"OPTIONS"):
        assert problems.NOT_A_PATH == line_problem(b"%b %b HTTP/1.1" % (method, target))


@pytest.mark.parametrize(
    ("target", "authority"),
    [(b"*", None), (b"http://localhost", b"localhost"), (b"https://[::1]:8443", b"[::1]:8443")],
)
def test_options_of_whole_server_has_asterisk_path(target: bytes, authority: bytes | None) -> None:
    """An absolute form without a path has the same meaning (RFC 9110 4.2.3, RFC 9112 3.2.4)."""
    expected = RequestLine(b"OPTIONS", ASTERISK, b"", authority, old=False)
    assert expected == read_line(b"OPTIONS %b HTTP/1.1" % target)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/a", b"/a", b""),
        (b"http://a/", b"/", b""),
        (b"http://a/b", b"/b", b""),
        (b"http://a?b", b"/", b"b"),
    ],
)
def test_options_of_a_path_has_the_path(target: bytes, path: bytes, query: bytes) -> None:
    line = read_line(b"OPTIONS %b HTTP/1.1" % target)
    assert (path, query) == (line.path, line.query)


@pytest.mark.parametrize(
    "line",
    [
        *(b"GET * HTTP/1.1", b"HEAD * HTTP/1.1", b"POST * HTTP/1.1", b"PRI * HTTP/1.1"),
        *(b"OPTIONS ** HTTP/1.1", b"OPTIONS *? HTTP/1.1", b"OPTIONS *?a HTTP/1.1"),
        *(b"OPTIONS */ HTTP/1.1", b"OPTIONS *a HTTP/1.1", b"OPTIONS *# HTTP/1.1"),
        *(b"CONNECT localhost:443 HTTP/1.1", b"CONNECT [::1]:443 HTTP/1.1", b"CONNECT / HTTP/1.1"),
        *(b"CONNECT /a HTTP/1.1", b"CONNECT * HTTP/1.1", b"CONNECT http://localhost/ HTTP/1.1"),
        b"CONNECT localhost HTTP/1.1",
    ],
)
def test_method_is_refused_for_targets_of_others(line: bytes) -> None:
    assert problems.NOT_A_PATH == line_problem(line)


def test_method_has_upper_case_letters_only() -> None:
    assert passed(lambda byte: read_line(byte + b" / HTTP/1.1")) == UPPER_CASE
    assert passed(lambda byte: read_line(b"G" + byte + b"T / HTTP/1.1")) == UPPER_CASE
    assert passed(lambda byte: read_line(b"GE" + byte + b" / HTTP/1.1")) == UPPER_CASE


@pytest.mark.parametrize("method", [b"A", b"GET", b"QUERY", b"BREW", 10_000 * b"A"])
def test_unknown_method_is_parsed(method: bytes) -> None:
    """Routes answer 501 and 405 (S7)."""
    assert method == read_line(method + b" / HTTP/1.1").method


def test_target_is_visible_ascii() -> None:
    visible = VCHARS - set(b"#")
    assert visible == passed(lambda byte: read_line(b"GET /a" + byte + b"b HTTP/1.1"))
    assert visible == passed(lambda byte: read_line(b"GET /a?" + byte + b" HTTP/1.1"))
    assert visible == passed(lambda byte: read_line(b"GET http://a/" + byte + b" HTTP/1.1"))
    assert set(b"/") == passed(lambda byte: read_line(b"GET " + byte + b"a HTTP/1.1"))


def test_words_of_a_line_are_separated_by_one_blank() -> None:
    assert set(b" ") == passed(lambda byte: read_line(b"GET" + byte + b"/ HTTP/1.1"))
    assert set(b" ") == passed(lambda byte: read_line(b"GET /" + byte + b"HTTP/1.1"))


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b" ", b"GET", b"GET ", b"GET /", b"GET / ", b"/ HTTP/1.1", b" / HTTP/1.1"),
        *(b"GET  HTTP/1.1", b"GET HTTP/1.1", b"GET  / HTTP/1.1", b"GET /  HTTP/1.1"),
        *(b" GET / HTTP/1.1", b"GET / HTTP/1.1 ", b"GET / HTTP/1.1\t"),
        *(b"GET / HTTP/1.1\r", b"GET / HTTP/1.1\n", b"\nGET / HTTP/1.1", b"GET / HTTP/1.1\r\n"),
        *(b"GET / HTTP/1.1\x00", b"GET /\r HTTP/1.1"),
        b"\xef\xbb\xbfGET / HTTP/1.1",
        # with a byte that has to be escaped, which is not their only fault
        *(b"GET /\xff\0 HTTP/1.1", b"GET /\xff HTTP/2.0", b"GET /\xff", b"get /\xff HTTP/1.1"),
        *(b"GET\xa0/healthz HTTP/1.1", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc /\xff HTTP/1.1"),
    ],
)
def test_malformed_line_is_refused(line: bytes) -> None:
    assert problems.NOT_HTTP == line_problem(line)


@pytest.mark.parametrize(
    "version",
    [
        *(b"HTTP/0.9", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/2", b"HTTP/3", b"HTTP/0.1"),
        *(b"HTTP/1", b"HTTP/1.", b"HTTP/.1", b"HTTP/11", b"HTTP/1.10", b"HTTP/1.01", b"HTTP/01.1"),
        *(b"HTTP/1.1.1", b"HTTP/1,1", b"HTTP 1.1", b"HTTP1.1", b"HTTP\\1.1", b"HTTP/+1.1"),
        *(b"http/1.1", b"Http/1.1", b"HTTPS/1.1", b"ICY/1.1", b"XHTTP/1.1", b"HTTP/1.\xb1", b"1.1"),
    ],
)
def test_other_version_is_refused(version: bytes) -> None:
    assert problems.NOT_HTTP == line_problem(b"GET / " + version)
    assert problems.NOT_HTTP == line_problem(b"PRI * " + version)


def test_truncated_line_is_refused() -> None:
    line = b"OPTIONS http://localhost:80/a?b HTTP/1.1"
    read_line(line)
    assert [] == [line[:at] for at in range(len(line)) if line_problem(line[:at]) is None]


# Fields (RFC 9112 5, RFC 9110 5) ------------------------------------------------------------------


def test_fields_keep_their_order_and_lose_their_case() -> None:
    raw = b"HOST: localhost\r\nACCEPT: 1\r\norigin:2\r\naccept:  3\t\r\nAccept:\r\n"
    values = {b"host": (b"localhost",), b"accept": (b"1", b"3", b""), b"origin": (b"2",)}
    expected = Fields(
        values,
        b"localhost",
        0,
        persistent=True,
        expects=False,
        conditional=False,
        if_none_match=None,
    )
    assert expected == read_fields(raw, old=False)


def test_fields_without_a_reader_are_not_parsed() -> None:
    near = (b"Hosts: a", b"X-Host: a", b"Accep: a", b"Accept-Encodings: a", b"Cookie: accept: a")
    assert {b"host"} == set(fields_of(*near).values)


def test_each_field_with_a_reader_is_parsed() -> None:
    """A field that is not parsed would look absent to the code that reads it."""
    names = set()
    for path in (Path(head.__file__).parents[1]).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            match call:
                case ast.Call(
                    func=ast.Attribute(attr="lines") | ast.Name(id="lines"),
                    args=[ast.Constant(value=bytes(name))],
                ):
                    names.add(name)
    framing = {b"host", b"connection", b"content-length", b"transfer-encoding", b"expect"}
    assert READ == names | framing


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"A:", b""),
        (b"A: ", b""),
        (b"A: \t \t", b""),
        (b"A:b", b"b"),
        (b"A:\tb", b"b"),
        (b"A: \t b \t ", b"b"),
        (b"A: b c\td", b"b c\td"),
        (b"A: b: c", b"b: c"),
        (b"A::", b":"),
        (b"A: ,,", b",,"),
        (b"A: \x80\xff\xa0", b"\x80\xff\xa0"),
        (b'A: "\\"', b'"\\"'),
        (b"A: " + 8_000 * b" " + b"b", b"b"),
    ],
)
def test_blanks_around_a_value_are_removed(line: bytes, value: bytes) -> None:
    assert (value,) == fields_of(b"Accept" + line[1:]).values[b"accept"]


def test_field_name_is_a_token() -> None:
    assert passed(lambda byte: fields_of(byte + b": b")) == TCHARS
    assert passed(lambda byte: fields_of(b"A" + byte + b"c: b")) == TCHARS | set(b":")
    assert passed(lambda byte: fields_of(b"A" + byte + b": b")) == TCHARS | set(b":")


def test_field_value_has_no_control_characters() -> None:
    free = VCHARS | set(b"\t ") | set(range(0x80, 0x100))
    assert free == passed(lambda byte: fields_of(b"A: b" + byte + b"c"))
    assert free == passed(lambda byte: fields_of(b"A:" + byte))
    assert free == passed(lambda byte: fields_of(b"A: b" + byte))


@pytest.mark.parametrize("control", [control for control in CONTROLS if control != b"\t"])
def test_control_character_is_refused_at_any_place(control: bytes) -> None:
    """Bare CR and LF are among them; a tab may stand in place of a blank."""
    raw = HOST + b"A: bc\r\nDe:f\r\n"
    places = [raw[:at] + control + raw[at:] for at in range(len(raw) + 1)]
    assert [] == [raw for raw in places if refused(partial(read_fields, raw, old=False)) is None]


@pytest.mark.parametrize(
    "lines",
    [
        *([b""], [b" "], [b"A"], [b"A b"], [b": b"], [b":"], [b" : b"]),
        *([b"A : b"], [b"A\t: b"], [b"A :b"], [b" A: b"], [b"\tA: b"], [b"A b: c"]),
        *([b"A: b", b" c"], [b"A: b", b"\tc"], [b"A:", b" b"], [b"A: b", b" B: c"]),
        *([b"A: b", b" "], [b"A: b", b"\t"], [b"A: b", b""], [b"A: b", b"", b"C: d"]),
        *([b"A: b\nC: d"], [b"A: b\rC: d"], [b"A: b\r"], [b"A: b\n"], [b"\nA: b"], [b"A: b\r\r"]),
        *([b"A: b\0"], [b"A\0: b"], [b"\xe2\x84\xaa: b"], [b"GET / HTTP/1.1"], [b"(A): b"]),
    ],
)
def test_malformed_field_is_refused(lines: list[bytes]) -> None:
    """Folded lines and blanks before the colon are among them (RFC 9112 5.1, 5.2)."""
    assert problems.NOT_HTTP == fields_problem(*lines)
    assert problems.NOT_HTTP == refused(
        lambda: read_fields(b"\r\n".join([*lines, HOST]), old=False)
    )


@pytest.mark.parametrize(
    "raw",
    [
        *(b"Host: localhost", b"Host: localhost\r", b"Host: localhost\n"),
        b"Host: localhost\r\n\r\n",
        *(b"\r\nHost: localhost\r\n", b"Host: localhost\r\nA: b", b"Host: localhost\n\r"),
    ],
)
def test_field_without_its_line_end_is_refused(raw: bytes) -> None:
    assert problems.NOT_HTTP == refused(lambda: read_fields(raw, old=False))


def test_more_than_500_fields_are_refused() -> None:
    assert MAX_FIELDS == 500
    few = [b"Accept: b"] * (MAX_FIELDS - 1)
    assert len(few) == len(fields_of(*few).values[b"accept"])
    assert problems.FIELDS_TOO_LARGE == fields_problem(*few, b"A: b")
    shortest = [b"A:"] * (MAX_FIELDS - 1)
    assert fields_problem(*shortest) is None
    assert problems.FIELDS_TOO_LARGE == fields_problem(*shortest, b"A:")
    assert problems.FIELDS_TOO_LARGE == fields_problem(*few, b"B: c")


def test_more_than_16_kib_of_fields_are_refused() -> None:
    assert MAX_HEAD == 16_384
    room = MAX_HEAD - len(HOST) - len(b"A:\r\n")
    assert fields_problem(b"A:" + room * b"b") is None
    assert problems.FIELDS_TOO_LARGE == fields_problem(b"A:" + room * b"b" + b"b")
    assert problems.FIELDS_TOO_LARGE == fields_problem(room * b"b" + b":ab")
    assert problems.FIELDS_TOO_LARGE == fields_problem(*2 * [b"A:" + room // 2 * b"b"])


# Host (RFC 9112 3.2, RFC 9110 7.2; S3) ------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *(b"localhost", b"LocalHost", b"localhost:8080", b"localhost:", b"localhost:0", b"a"),
        *(b"reviews.example.com", b"reviews.example.com.", b"a..b", b"a_b-c~d", b"-", b"127.1"),
        *(b"127.0.0.1", b"127.0.0.1:65535", b"xn--bcher-kva.example", b"b%c3%bccher.example"),
        *(b"[::1]", b"[::1]:8080", b"[::1]:", b"[2001:DB8::1]", b"[::ffff:192.0.2.1]", b"[::]"),
        *(b"!$&'()*+,;=", b"a,b"),
    ],
)
def test_host_is_not_normalized(host: bytes) -> None:
    assert host == fields_of(host=b"Host: \t" + host + b" \r\n").host


BAD_HOSTS = [
    *(b"", b":", b":80", b"localhost:x", b"localhost:-1", b"localhost:+1", b"localhost: 80"),
    *(b"localhost:123456", b"localhost:80:80", b"::1", b"a b", b"a\tb", b"localhost, localhost"),
    *(b"user@localhost", b"@localhost", b"http://localhost", b"localhost/", b"/", b"localhost?a"),
    *(b"localhost#a", b"localhost\\", b'"a"', b"<a>", b"a^b", b"a`b", b"{a}", b"a|b", b"\xff"),
    *(b"b\xc3\xbccher.example", b"%", b"a%", b"a%4", b"a%zz", b"a%%41", b"[]", b"[", b"]", b"[::1"),
    *(b"::1]", b"[::1]a", b"a[::1]", b"[[::1]]", b"[1]", b"[::g]", b"[:::]", b"[1.2.3.4]", b"[.]"),
    *(b"[1:2:3:4:5:6:7:8:9]", b"[::1%25eth0]", b"[::1%eth0]", b"[v1.a]", b"[::1]:x", b"[::1]80"),
]


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_malformed_host_is_refused(host: bytes) -> None:
    """An empty host is refused too, as an http address has an authority (RFC 9110 4.2.1)."""
    for old in (False, True):
        assert problems.NOT_HTTP == fields_problem(host=b"Host: " + host + b"\r\n", old=old)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    "hosts",
    [
        *(2 * HOST, 3 * HOST, HOST + b"host: evil.example\r\n"),
        HOST + b"A: b\r\nhOST:localhost\r\n",
        *(HOST + b"Host:\r\n", b"Host:\r\n" + HOST),
    ],
)
def test_repeated_host_is_refused(hosts: bytes, old: bool) -> None:
    assert problems.NOT_HTTP == fields_problem(host=hosts, old=old)


def test_host_is_optional_only_in_http_1_0() -> None:
    assert problems.NOT_HTTP == fields_problem(host=b"")
    assert problems.NOT_HTTP == fields_problem(b"X-Host: localhost", b"Hos: a", host=b"")
    assert fields_of(host=b"", old=True).host is None
    assert b"localhost" == fields_of(old=True).host


# Framing (RFC 9112 6) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "length"),
    [
        (b"0", 0),
        (b"3", 3),
        (b"003", 3),
        (b"\t3 \t", 3),
        (16 * b"0", 0),
        (15 * b"0" + b"3", 3),
        (16 * b"9", 10**16 - 1),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_length_is_decimal(value: bytes, length: int, old: bool) -> None:
    assert length == fields_of(b"Content-Length:" + value, old=old).length
    assert length == fields_of(b"content-LENGTH: " + value, old=old).length


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"+3", b"-3", b"-0", b"3,3", b"3, 3", b"3,", b",3", b"3 3", b"1 0", b"3_0", b"0x3"),
        *(b"3.0", b"3e0", b"3;", b"3h", b"0b1", b"0o7", b'"3"', b"'3'", b"NaN", b"inf", b"a", b"*"),
        *(b"\xb2", b"\xb3", b"\xef\xbc\x93", b"\xd9\xa3", 17 * b"0", 17 * b"9", 5_000 * b"1"),
    ],
)
def test_malformed_length_is_refused(value: bytes) -> None:
    for old in (False, True):
        assert problems.NOT_HTTP == fields_problem(b"Content-Length: " + value, old=old)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 3", b"Content-Length: 3"],
        [b"Content-Length: 0", b"content-length: 0"],
        *([b"Content-Length: 3", b"Content-Length: 4"], [b"Content-Length: 3", b"Content-Length:"]),
    ],
)
def test_repeated_length_is_refused(lines: list[bytes], old: bool) -> None:
    """RFC 9112 6.3 allows equal lengths, but not all proxies read them as one."""
    assert problems.NOT_HTTP == fields_problem(*lines, old=old)


@pytest.mark.parametrize("value", [b"chunked", b"Chunked", b"CHUNKED", b"\tchunked \t"])
def test_chunked_body_has_no_length(value: bytes) -> None:
    assert fields_of(b"Transfer-Encoding:" + value).length is None
    assert problems.NOT_HTTP == fields_problem(b"Transfer-Encoding:" + value, old=True)


CODINGS = [
    *(b"", b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked, chunked", b"*"),
    *(b"chunked,", b",chunked", b"chunk", b"xchunked", b"chunkedx", b"x chunked", b"chunked x"),
    *(b'"chunked"', b"'chunked'", b"chunked;", b"chunked;q=1", b"chunked; a=b", b"trailers"),
    *(b"\xa0chunked", b"chunked\x85", b"chun\xe2\x84\xaaed", b"chunked:", b"cow"),
]


@pytest.mark.parametrize(
    "lines",
    [
        *([b"Transfer-Encoding: " + coding] for coding in CODINGS),
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"transfer-encoding: identity"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding:"],
        [b"Transfer-Encoding: chunked", b"Content-Length: 3"],
        [b"Content-Length: 0", b"Transfer-Encoding: CHUNKED"],
        [b"Transfer-Encoding:", b"Content-Length: 3"],
        [b"Transfer-Encoding: identity", b"Content-Length: 3"],
    ],
)
def test_other_or_ambiguous_framing_is_refused(lines: list[bytes]) -> None:
    assert problems.NOT_HTTP == fields_problem(*lines)


@pytest.mark.parametrize(
    "line",
    [
        *(b"Transfer_Encoding: chunked", b"X-Transfer-Encoding: chunked", b"TE: chunked"),
        *(b"Transfer-Encodin: chunked", b"Content_Length: 3", b"Content-Lengt: 3", b"Trailer: a"),
        *(b"Connection: Content-Length", b"Upgrade: h2c", b"HTTP2-Settings: a", b"Content-Type: a"),
    ],
)
def test_other_fields_do_not_frame_a_body(line: bytes) -> None:
    assert 0 == fields_of(line).length


# Connection, Expect and preconditions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "persistent"),
    [
        ([], True),
        ([b"Connection:"], True),
        ([b"Connection: keep-alive"], True),
        ([b"Connection: close"], False),
        ([b"Connection: Close"], False),
        ([b"CONNECTION: CLOSE"], False),
        ([b"Connection: keep-alive, close"], False),
        ([b"Connection: close, keep-alive"], False),
        ([b"Connection: ,,\tclose\t,"], False),
        ([b"Connection: upgrade,close,te"], False),
        ([b"Connection: keep-alive", b"Connection: close"], False),
        ([b"Connection: close", b"Connection:"], False),
        ([b"Connection: closed"], True),
        ([b"Connection: not close"], True),
        ([b'Connection: "close"'], True),
        ([b"Connection: close;q=1"], True),
        ([b"Keep-Alive: close"], True),
        ([b"Proxy-Connection: close"], True),
    ],
)
def test_connection_field_decides_about_persistence(lines: list[bytes], persistent: bool) -> None:
    assert persistent == fields_of(*lines).persistent
    assert not fields_of(*lines, old=True).persistent


@pytest.mark.parametrize(
    ("lines", "expects"),
    [
        ([], False),
        ([b"Expect: 100-continue"], True),
        ([b"EXPECT: 100-Continue"], True),
        ([b"Expect:100-continue\t"], True),
        ([b"Expect: other", b"Expect: 100-continue"], True),
        ([b"Expect:"], False),
        ([b"Expect: 100"], False),
        ([b"Expect: 200-ok"], False),
        ([b"Expect: x100-continue"], False),
        ([b"Expect: 100-continue x"], False),
    ],
)
def test_expect_field_announces_a_wait_for_100(lines: list[bytes], expects: bool) -> None:
    """HTTP/1.0 has no expectations (RFC 9110 10.1.1)."""
    assert expects == fields_of(*lines).expects
    assert not fields_of(*lines, old=True).expects


@pytest.mark.parametrize(
    ("lines", "conditional", "tag"),
    [
        ([], False, None),
        ([b"If-Range: a", b"If: b", b"Range: bytes=0-1"], False, None),
        ([b'If-None-Match: "a"'], True, b'"a"'),
        ([b"IF-NONE-MATCH:"], True, b""),
        ([b'if-none-match: W/"a", "b" '], True, b'W/"a", "b"'),
        ([b'If-None-Match: "a"', b'If-None-Match: "b"'], True, None),
        ([b'If-None-Match: "a"', b"If-Modified-Since: b"], True, b'"a"'),
        ([b'If-None-Match: "a"', b'If-Match: "a"'], True, None),
        ([b'If-None-Match: "a"', b"If-Unmodified-Since: b"], True, None),
        ([b"If-Modified-Since: a"], True, None),
        ([b"If-Unmodified-Since: a"], True, None),
        ([b"If-Match: *"], True, None),
    ],
)
def test_if_none_match_that_decides_alone_is_known(
    lines: list[bytes], conditional: bool, tag: bytes | None
) -> None:
    """If-None-Match decides alone unless another precondition comes before it (RFC 9110 13.2.2)."""
    fields = fields_of(*lines)
    assert (conditional, tag) == (fields.conditional, fields.if_none_match)


# Any bytes -----------------------------------------------------------------------------------------

TARGETS = st.one_of(
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=20).map(
        lambda text: b"/" + text.encode()
    ),
    st.sampled_from([b"*", b"http://localhost", b"HTTPS://[::1]:8/a?b", b"http://a?b", b"a:1"]),
)
NAMES = st.sampled_from(
    [
        *(b"A", b"Host", b"content-length", b"Transfer-Encoding", b"Connection", b"Expect", b"B "),
        *(b"If-None-Match", b"x!y", b"", b"C\0", b" D", b"E\x7f", b"\xe9", b"Cookie", b"Accept"),
    ]
)
VALUES = st.one_of(
    st.sampled_from(
        [
            *(b"localhost", b"0", b"3", b"3, 3", b"+3", b"chunked", b"identity", b"close", b"a b"),
            *(b"100-continue", b"", b" \t", b"b\rc", b"b\nc", b"b\0c", b"b\r\n c", b"[::1]:80"),
            b'"a"',
        ]
    ),
    st.binary(max_size=8),
)
WILD_FIELDS = st.lists(
    st.tuples(NAMES, st.sampled_from([b"", b" ", b"\t"]), VALUES), min_size=1, max_size=3
).map(lambda lines: b"".join(b"%b:%b%b\r\n" % line for line in lines))
SOUND_FIELDS = st.lists(
    st.sampled_from(
        [
            *(b"A: b\r\n", b"a:\xff\t:\r\n", b"B:\r\n", b"Connection: a, close\r\n", b"C:d e \r\n"),
            *(b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"If-None-Match: *\r\n"),
            *(
                b"Expect: 100-continue\r\n",
                b"If-Match: *\r\n",
                b"Cookie: a=b; c\r\n",
                b"x!y|: z\r\n",
            ),
        ]
    ),
    max_size=4,
).map(b"".join)
FIELDS = st.one_of(
    SOUND_FIELDS, WILD_FIELDS, st.tuples(SOUND_FIELDS, WILD_FIELDS, SOUND_FIELDS).map(b"".join)
)
LINES = st.one_of(
    st.builds(lambda target: b"GET %b HTTP/1.1" % target, TARGETS),
    st.builds(
        lambda method, target, version: b"%b %b %b" % (method, target, version),
        st.sampled_from([b"GET", b"POST", b"OPTIONS", b"CONNECT", b"get", b"G T", b"", b"G\xff"]),
        TARGETS | st.binary(max_size=6),
        st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.1 ", b""]),
    ),
)


@examples(200)
@given(LINES, FIELDS, st.sampled_from([b"", HOST, HOST, HOST]))
def test_head_that_h11_refuses_is_refused(line: bytes, fields: bytes, host: bytes) -> None:
    """h11 accepts folded lines, bare line feeds and repeated lengths, which are refused here."""
    raw = host + fields
    peer = h11.Connection(h11.SERVER)
    peer.receive_data(line + b"\r\n" + raw + b"\r\n")
    try:
        event = peer.next_event()
    except h11.RemoteProtocolError:
        event = None
    try:
        read = read_line(line)
        ours = read_fields(raw, old=read.old)
    except RefusedError:
        return
    assert isinstance(event, h11.Request)
    assert read.method == event.method
    assert sorted((name, value) for name, value in event.headers if name in READ) == sorted(
        (name, value) for name, values in ours.values.items() for value in values
    )
