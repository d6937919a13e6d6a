"""The MCP endpoint in the OpenAPI document (mcp.md; contract 4).

What methods, tools and resources there are is MCP's own to tell: a client asks for ``tools/list``. Here
is what HTTP carries: messages of JSON-RPC, the header fields, and what each status means.
"""

from reviewsd.publish.openapi import responses
from reviewsd.publish.openapi.schemas import Json, reference

TAG = "mcp"

REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Of the protocol, that are served."""

_POST = """\
Carries one message of the Model Context Protocol, and answers with JSON, never with a stream. To \
connect an AI assistant, give it this address as a streamable HTTP server; no key is needed.

Up to revision 2025-11-25 a client sends `initialize` first, and then each message with the \
`Mcp-Session-Id` that was answered. From 2026-07-28 on there are no sessions: each message names the \
revision in `_meta` and in `MCP-Protocol-Version`, its method in `Mcp-Method`, and what it calls or \
reads in `Mcp-Name`. Revision 2025-03-26 has batches, of at most 50 messages.

Web pages of other origins must be allowed by the operator."""

_DELETE = """\
A session that is not ended ends by itself, 30 days after its beginning unless the operator has set \
another time."""

_MAX_BATCH = 50  # messages; mcp.md 2a-15
_ID: Json = {"type": ["string", "integer"]}


def _message(description: str, members: Json, required: str, without: str) -> Json:
    """A message of JSON-RPC 2.0.

    Args:
        description: What it is.
        members: Its members beside ``jsonrpc``.
        required: Those of them that it has.
        without: Members that would make another message of it.
    """
    absent: Json = {name: {"not": {}} for name in without.split()}
    return {
        "type": "object",
        "description": description,
        "properties": {"jsonrpc": {"const": "2.0"}, **members, **absent},
        "required": ["jsonrpc", *required.split()],
    }


_CALLED: Json = {
    "method": {"type": "string"},
    "params": {
        "type": ["object", "null"],
        "description": "Those of the method; null is as good as none.",
    },
}
_RESULT: Json = {"type": "object", "description": "What the method answers."}
_FAULT: Json = {
    "type": "object",
    "properties": {
        "code": {"type": "integer"},
        "message": {"type": "string"},
        "data": {"description": "More about it."},
    },
    "required": ["code", "message"],
}
_UNREAD: Json = {
    "type": ["string", "integer", "null"],
    "description": "Of the request; null where it could not be read.",
}

SCHEMAS: dict[str, Json] = {
    "McpBatch": {
        "type": "array",
        "description": "Messages of a session of revision 2025-03-26.",
        "items": reference("McpMessage"),
        "minItems": 1,
        "maxItems": _MAX_BATCH,
    },
    "McpError": _message(
        "An answer that says what is wrong.", {"id": _UNREAD, "error": _FAULT}, "id error", ""
    ),
    "McpMessage": {
        "description": "One message: a request, a notification, or a response.",
        "anyOf": [
            reference("McpRequest"),
            reference("McpNotification"),
            reference("McpResponse"),
        ],
    },
    "McpNotification": _message("A message that has no answer.", _CALLED, "method", "id"),
    "McpRequest": _message(
        "A message that has an answer, with the same id.", {"id": _ID, **_CALLED}, "id method", ""
    ),
    "McpResponse": {
        "description": "What answers a request. The service sends none, so a client need not either.",
        "anyOf": [
            _message("A result.", {"id": _ID, "result": _RESULT}, "id result", "method error"),
            _message("An error.", {"id": _UNREAD, "error": _FAULT}, "error", "method result"),
        ],
    },
    "McpResult": _message(
        "An answer with what was asked for.", {"id": _ID, "result": _RESULT}, "id result", ""
    ),
}
"""By name: what is posted (message, batch) and what is answered (result, error)."""

_ANSWERS = (reference("McpResult"), reference("McpError"))
_ANSWERED: Json = {
    "type": "array",
    "description": "The answers to a batch, in any order.",
    "items": {"anyOf": _ANSWERS},
    "minItems": 1,
    "maxItems": _MAX_BATCH,
}

_INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "example", "version": "1.0"},
    },
}

_INITIALIZED: Json = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "reviewsd", "title": "Acme Plumbing reviews", "version": "1.0.0"},
        "instructions": "Verified customer reviews of Acme Plumbing. Start with get_summary.",
    },
}

_SESSION = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKA"

_RETRY_AFTER: Json = {
    "Retry-After": {
        "description": "Seconds after which it may be tried again",
        "schema": {"type": "integer", "minimum": 0},
    }
}


def path_item() -> Json:
    """What the MCP endpoint answers."""
    return {"post": _post(), "delete": _delete()}


def _post() -> Json:
    return {
        "operationId": "sendMessage",
        "tags": [TAG],
        "summary": "Send a message of MCP",
        "description": _POST,
        "parameters": [
            _field(
                "Mcp-Session-Id",
                "The session, as initialize has answered it; not with initialize.",
                _SESSION,
            ),
            _field("MCP-Protocol-Version", "The revision.", REVISIONS[2]),
            _field("Mcp-Method", "From 2026-07-28 on: the method.", "initialize"),
            _field(
                "Mcp-Name", "The same: the tool, or the address of the resource.", "get_summary"
            ),
        ],
        "requestBody": {
            "required": True,
            "content": {
                responses.JSON: {
                    "schema": {"anyOf": [reference("McpMessage"), reference("McpBatch")]},
                    "example": _INITIALIZE,
                }
            },
        },
        "responses": {
            "200": responses.no_store(
                "The answer; an error too, of what a method refuses",
                {
                    responses.JSON: {
                        "schema": {"anyOf": [*_ANSWERS, _ANSWERED]},
                        "example": _INITIALIZED,
                    }
                },
                {
                    "Mcp-Session-Id": {
                        "description": "The new session; with the answer to initialize",
                        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{54}$"},
                        "example": _SESSION,
                    }
                },
            ),
            "202": responses.no_store("Taken; a notification has no answer", {}),
            "400": _refused(
                "No message, no session, or a revision that is not served",
                -32600,
                "Mcp-Session-Id is missing; initialize gives one",
            ),
            "403": _foreign(),
            "404": _refused(
                "The session is unknown or over; from 2026-07-28 on: there is no such method",
                -32600,
                "Unknown session, or ended; initialize opens a new one",
            ),
            "406": _refused(
                "`Accept` excludes JSON",
                -32600,
                "Answers are application/json, which Accept excludes",
            ),
            "413": _refused(
                "The body is too large",
                -32600,
                "The body must have at most 65536 bytes (server.max_body.mcp)",
            ),
            "415": _refused(
                "The body is not JSON", -32600, "Content-Type must be application/json"
            ),
            "421": _misdirected(),
            "429": _refused(
                "As many requests as may be are waiting, all of the same network",
                -32603,
                "Your network has too many requests waiting; wait for their answers",
                _RETRY_AFTER,
            ),
            "500": _refused("The server failed", -32603, "Internal error"),
            "503": _refused(
                "There is no data yet, or too much is waiting to be taken by its clients",
                -32603,
                "No data has been published yet",
                _RETRY_AFTER,
            ),
        },
    }


def _delete() -> Json:
    return {
        "operationId": "endSession",
        "tags": [TAG],
        "summary": "End a session",
        "description": _DELETE,
        "parameters": [_field("Mcp-Session-Id", "The session.", _SESSION, required=True)],
        "responses": {
            "204": responses.no_store("It is over", {}),
            "400": _refused(
                "No session, or a revision that is not served",
                -32600,
                "Mcp-Session-Id is missing; initialize gives one",
            ),
            "403": _foreign(),
            "404": _refused(
                "The session is unknown or over already",
                -32600,
                "Unknown session, or ended; initialize opens a new one",
            ),
            "405": _refused(
                "It cannot be ended: the revision has no sessions, or too many were ended early",
                -32600,
                "No more sessions can be ended; this one ends when it expires",
            ),
            "421": _misdirected(),
            "429": _refused(
                "This client has ended too many",
                -32603,
                "Too many sessions were ended from your network; this one ends when it expires",
                _RETRY_AFTER,
            ),
            "503": _refused(
                "It cannot be ended now",
                -32603,
                "The session cannot be ended at the moment",
                _RETRY_AFTER,
            ),
        },
    }


def _field(name: str, description: str, example: str, *, required: bool = False) -> Json:
    """A header field of a request."""
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


def _refused(description: str, code: int, message: str, headers: Json | None = None) -> Json:
    """A refusal, which is an error of JSON-RPC."""
    example: Json = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    content: Json = {responses.JSON: {"schema": reference("McpError"), "example": example}}
    return responses.no_store(description, content, headers)


def _foreign() -> Json:
    return _refused(
        "A web page asks whose origin is not allowed",
        -32600,
        "Pages of this origin may not ask; the operator can allow them by mcp.allowed_origins",
    )


def _misdirected() -> Json:
    return _refused(
        "`Host` is no name of this service",
        -32600,
        "Nothing is served by this host name; the operator can allow it by server.allowed_hosts",
    )
