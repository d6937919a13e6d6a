"""Bodies of JSON-RPC: messages, batches and strictness (mcp.md 2a-13 to 15, 2c, S17)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from reviewsd.mcp.jsonrpc import (
    JsonRpcError,
    JsonRpcRequest,
    Notification,
    Params,
    failure,
    read_body,
    result,
)


def refused(body: bytes) -> tuple[int, bytes]:
    """Return the code and the id of the error for a body."""
    with pytest.raises(JsonRpcError) as caught:
        read_body(body)
    assert body not in caught.value.message.encode() or len(body) < 3
    return caught.value.code, caught.value.request_id


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0"} | members).encode()


# -- messages


@pytest.mark.parametrize(
    "given_id", [b"1", b"0", b"-7", b"9" * 400, b'"a"', b'""', b'"\\u00e9\\n"']
)
def test_id_stays_raw(given_id: bytes) -> None:
    body = b'{"jsonrpc":"2.0", "method":"ping", "id" : %b }' % given_id
    assert JsonRpcRequest(given_id, "ping", Params()) == read_body(body)


def test_message_without_id_is_a_notification() -> None:
    expected = Notification("notifications/initialized", Params())
    assert expected == read_body(message(method="notifications/initialized"))


def test_params_stay_raw() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments": { "a" : 1.50 } },"b":[]}'
    params = Params(arguments=Raw(b'{ "a" : 1.50 }'))
    assert JsonRpcRequest(b"1", "a", params) == read_body(body)


@pytest.mark.parametrize("params", ["", ',"params":null'])
def test_absent_params_are_empty(params: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":1,"method":"a"{params}}}'
    assert JsonRpcRequest(b"1", "a", Params()) == read_body(body.encode())


def test_escaped_names_are_decoded() -> None:
    body = rb' {"\u006asonrpc":"2\u002e0","\u0069d":1,"method":"tools\/list"} '
    assert JsonRpcRequest(b"1", "tools/list", Params()) == read_body(body)


@pytest.mark.parametrize(
    ("body", "message_id"),
    [
        (b"{}", b"null"),
        (b'{"id":7}', b"7"),
        (b'{"id":7,"method":"ping"}', b"7"),
        (b'{"jsonrpc":"1.0","id":"x","method":"ping"}', b'"x"'),
        (b'{"jsonrpc":2.0,"id":7,"method":"ping"}', b"7"),
        (b'{"jsonrpc":"2.0","id":7}', b"7"),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', b"7"),
        (b'{"jsonrpc":"2.0","id":7,"method":null,"result":{}}', b"7"),
        (b'{"jsonrpc":"2.0","id":[],"method":5}', b"null"),
        (b"1", b"null"),
        (b"null", b"null"),
        (b'"text"', b"null"),
    ],
)
def test_invalid_message_is_refused_with_its_id(body: bytes, message_id: bytes) -> None:
    assert (-32600, message_id) == refused(body)


# -- strictness


HOSTILE = {
    "nothing": b"",
    "blanks": b" \n",
    "cut": b'{"jsonrpc":"2.0"',
    "two values": b"{} {}",
    "a byte order mark": b"\xef\xbb\xbf" + message(id=1, method="ping"),
    "UTF-16": message(id=1, method="ping").decode().encode("utf-16"),
    "invalid UTF-8": message(id=1, method="ping").replace(b"ping", b"p\xffng"),
    "overlong UTF-8": message(id=1, method="ping").replace(b"ping", b"p\xc0\xafng"),
    "a surrogate in UTF-8": message(id=1, method="ping").replace(b"ping", b"p\xed\xa0\x80g"),
    "a lone surrogate": message(id=1, method="\ud800"),
    "a lone low surrogate": message(id=1, method="a", params={"a": "\udc00 and text"}),
    "a lone surrogate in a name": message(id=1, method="a", params={"\ud800": 1}),
    "swapped surrogates": message(id=1, method="a", x="\udc00\ud800"),
    "NaN": message(id=1, method="a", params={"a": float("nan")}),
    "Infinity": message(id=1, method="a", x=[float("-inf")]),
    "a huge integer": message(id=1, method="a").replace(b"1", b"1" * 5_000),
    "a huge integer in params": b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":%b}}'
    % (b"-" + b"9" * 50_000),
    "arrays 65 deep": b'{"jsonrpc":"2.0","id":1,"method":"a","params":%b}'
    % (b"[" * 64 + b"]" * 64),
    "depth": b"[" * 60_000,
    "closed depth": b"[" * 30_000 + b"]" * 30_000,
    "objects in depth": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "method twice": b'{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}',
    "a name twice, spelled differently": rb'{"jsonrpc":"2.0","id":1,"method":"a","\u0069d":2}',
    "a name twice, in another spelling of JSON": b'{ "jsonrpc" : "2.0", "id" : 1, "id"\n:2, "method":"a"}',
    "a name twice in params": b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"a":1,"a":1}}}',
    "a name twice beside colons": b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":"::","a":1}}',
    "a name twice below": b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"a":1,"a":1}]}}',
    "a control character": b'{"jsonrpc":"2.0","id":1,"method":"a\nb"}',
    "a NUL": b'{"jsonrpc":"2.0","id":1,"method":"a"}\0',
    "an unknown escape": rb'{"jsonrpc":"2.0","id":1,"method":"\x41"}',
    "a trailing comma": b'{"jsonrpc":"2.0","id":1,"method":"a",}',
    "a leading zero": b'{"jsonrpc":"2.0","id":01,"method":"a"}',
    "a leading plus": b'{"jsonrpc":"2.0","id":+1,"method":"a"}',
    "a comment": b'{"jsonrpc":"2.0","id":1,"method":"a"} // x',
    "single quotes": b"{'jsonrpc':'2.0'}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_body_that_is_not_strict_json_is_a_parse_error(body: bytes) -> None:
    assert (-32700, b"null") == refused(body)
    assert (-32700, b"null") == refused(b"[" + body)


def test_64_levels_and_4300_digits_are_accepted() -> None:
    deep = b"[" * 63 + b"]" * 63
    params = b'{"a":%b,"b":"%b"}' % (b"9" * 4_300, b"[" * 100)
    assert isinstance(
        read_body(b'{"jsonrpc":"2.0","id":1,"method":"a","x":%b,"params":%b}' % (deep, params)),
        JsonRpcRequest,
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
)


@given(JSON, st.data())
def test_accepted_body_is_the_same_to_another_decoder(value: object, data: st.DataObject) -> None:
    """Python's decoder reads the same message from damaged JSON that is accepted."""
    body = bytearray(message(id=1, method="a", params={"arguments": value}))
    at = data.draw(st.integers(0, len(body) - 1))
    body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        parsed = read_body(bytes(body))
    except JsonRpcError:
        return
    if isinstance(parsed, JsonRpcRequest):
        plain = json.loads(body)
        assert plain["method"] == parsed.method
        assert plain["id"] == json.loads(parsed.id)
        arguments = (plain.get("params") or {}).get("arguments")
        assert arguments == json.loads(bytes(parsed.params.arguments) or b"null")


# -- answers


def test_result_has_its_id_and_is_not_joined() -> None:
    parts = result(b'"a"', (b'{"x"', memoryview(b":1}")))
    assert {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}} == json.loads(b"".join(parts))


def test_error_has_code_message_and_data() -> None:
    error = JsonRpcError(-32002, 'No "such" thing\n', b'{"uri":"x"}')
    expected = {"code": -32002, "message": 'No "such" thing\n', "data": {"uri": "x"}}
    assert {"jsonrpc": "2.0", "id": 5, "error": expected} == json.loads(failure(error, b"5"))
    assert json.loads(failure(error))["id"] is None
