"""Bodies of JSON-RPC: what is a message, and what is refused whole (mcp.md 2a-13 to 15, 2c, S17)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from reviewsd.mcp.jsonrpc import (
    JsonRpcBatch,
    JsonRpcError,
    JsonRpcRequest,
    JsonRpcResponse,
    Message,
    Notification,
    Params,
    failure,
    read_body,
    read_member,
    result,
)


def refused(body: bytes) -> tuple[int, bytes]:
    """Code and id."""
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
def test_an_id_comes_as_it_was_given(given_id: bytes) -> None:
    body = b'{"jsonrpc":"2.0", "method":"ping", "id" : %b }' % given_id
    assert JsonRpcRequest(given_id, "ping", Params()) == read_body(body)


@pytest.mark.parametrize("wrong", ["null", "true", "1.0", "1e2", "0.5", "[1]", "{}"])
def test_another_id_is_refused_and_no_notification(wrong: str) -> None:
    assert (-32600, b"null") == refused(
        b'{"jsonrpc":"2.0","method":"ping","id":%b}' % wrong.encode()
    )


def test_without_an_id_it_is_a_notification() -> None:
    expected = Notification("notifications/initialized", Params())
    assert expected == read_body(message(method="notifications/initialized"))


@pytest.mark.parametrize("members", [{"result": {}}, {"error": {"code": 1, "message": "a"}}])
def test_a_result_or_an_error_is_a_response(members: dict[str, object]) -> None:
    assert JsonRpcResponse() == read_body(message(id=1, **members))


@pytest.mark.parametrize("wrong", ["7", '"x"', "true", "0.5"])
def test_params_that_are_no_structure_make_no_request(wrong: str) -> None:
    """JSON-RPC 4.2."""
    call = f'"jsonrpc":"2.0","method":"ping","params":{wrong}'
    assert (-32600, b"7") == refused(f'{{"id":7,{call}}}'.encode())
    assert (-32600, b"null") == refused(f"{{{call}}}".encode())


@pytest.mark.parametrize("wrong", ["[]", '["x"]', "[{}]"])
def test_params_without_names_are_not_those_of_a_method(wrong: str) -> None:
    """JSON-RPC has them, MCP has not."""
    call = f'"jsonrpc":"2.0","method":"ping","params":{wrong}'
    assert (-32602, b"7") == refused(f'{{"id":7,{call}}}'.encode())
    assert (-32602, b"null") == refused(f"{{{call}}}".encode())


def test_params_stay_as_they_were_given() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments": { "a" : 1.50 } },"b":[]}'
    params = Params(arguments=Raw(b'{ "a" : 1.50 }'))
    assert JsonRpcRequest(b"1", "a", params) == read_body(body)


@pytest.mark.parametrize("params", ["", ',"params":null'])
def test_no_params_are_none(params: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":1,"method":"a"{params}}}'
    assert JsonRpcRequest(b"1", "a", Params()) == read_body(body.encode())


def test_any_way_to_spell_it_is_fine() -> None:
    body = rb' {"\u006asonrpc":"2\u002e0","\u0069d":1,"method":"tools\/list"} '
    assert JsonRpcRequest(b"1", "tools/list", Params()) == read_body(body)


@pytest.mark.parametrize(
    ("body", "found"),
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
def test_what_is_no_message_is_refused_with_its_id(body: bytes, found: bytes) -> None:
    assert (-32600, found) == refused(body)


# -- batches


def members(body: bytes) -> list[Raw]:
    found = read_body(body)
    assert isinstance(found, JsonRpcBatch)
    return list(found.members)


def test_an_array_is_a_batch() -> None:
    body = b"[%b, %b,%b]" % (
        message(id=1, method="a"),
        message(method="b"),
        message(id=2, result={}),
    )
    expected: list[Message] = [
        JsonRpcRequest(b"1", "a", Params()),
        Notification("b", Params()),
        JsonRpcResponse(),
    ]
    assert expected == [read_member(each) for each in members(body)]
    assert [] == members(b"[]")


def test_an_invalid_member_is_an_error_without_id() -> None:
    body = b'[1,"a",null,[],{},{"jsonrpc":"1.0","id":4,"method":"a"}]'
    for member in members(body):
        with pytest.raises(JsonRpcError) as caught:
            read_member(member)
        assert (-32600, b"null") == (caught.value.code, caught.value.request_id)


def test_a_request_of_a_batch_keeps_its_id_where_only_its_params_are_wrong() -> None:
    (member,) = members(b"[%b]" % message(id=4, method="a", params=[]))
    with pytest.raises(JsonRpcError) as caught:
        read_member(member)
    assert (-32602, b"4") == (caught.value.code, caught.value.request_id)


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
def test_what_is_not_strictly_json_is_a_parse_error(body: bytes) -> None:
    assert (-32700, b"null") == refused(body)
    assert (-32700, b"null") == refused(b"[" + body)


def test_64_levels_and_4300_digits_are_fine() -> None:
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


@given(JSON)
def test_any_json_is_a_message_or_an_invalid_request(value: object) -> None:
    try:
        read_body(json.dumps(value, allow_nan=False).encode())
    except JsonRpcError as error:
        assert error.code == -32600  # noqa: PT017  both outcomes are fine
    try:
        read_body(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except JsonRpcError as error:
        assert error.code == -32600  # noqa: PT017


@given(JSON, st.data())
def test_what_passes_means_the_same_to_another_decoder(value: object, data: st.DataObject) -> None:
    """Cut and changed JSON: what is accepted, Python's own strict reading accepts too."""
    body = bytearray(message(id=1, method="a", params={"arguments": value}))
    at = data.draw(st.integers(0, len(body) - 1))
    body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        found = read_body(bytes(body))
    except JsonRpcError:
        return
    if isinstance(found, JsonRpcRequest):
        plain = json.loads(body)
        assert plain["method"] == found.method
        assert plain["id"] == json.loads(found.id)
        arguments = (plain.get("params") or {}).get("arguments")
        assert arguments == json.loads(bytes(found.params.arguments) or b"null")


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_a_name_is_nowhere_twice(params: dict[str, object], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(params)))
    members = [json.dumps({key: value})[1:-1] for key, value in (*params.items(), (name, 1))]
    body = '{"jsonrpc":"2.0","id":1,"method":"a","params":{%s}}' % ",".join(members)  # noqa: UP031  braces
    with pytest.raises(JsonRpcError, match="two members of one name"):
        read_body(body.encode())


# -- answers


def test_a_result_has_its_id_and_stays_in_parts() -> None:
    parts = result(b'"a"', (b'{"x"', memoryview(b":1}")))
    assert {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}} == json.loads(b"".join(parts))


def test_an_error_has_a_code_a_message_and_what_more_there_is() -> None:
    error = JsonRpcError(-32002, 'No "such" thing\n', b'{"uri":"x"}')
    expected = {"code": -32002, "message": 'No "such" thing\n', "data": {"uri": "x"}}
    assert {"jsonrpc": "2.0", "id": 5, "error": expected} == json.loads(failure(error, b"5"))
    assert json.loads(failure(error))["id"] is None


@given(st.binary())
def test_random_bytes_are_refused_or_read(body: bytes) -> None:
    try:
        read_body(body)
    except JsonRpcError as error:
        assert error.code in {-32700, -32600}  # noqa: PT017
