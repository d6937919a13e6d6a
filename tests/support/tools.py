"""Calls tools on a snapshot, and checks each result (mcp.md 5.4)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
import msgspec

from reviewsd.mcp.methods import call_tool
from reviewsd.mcp.results import ANSWER_BUDGET
from reviewsd.mcp.tools import TOOLS
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.daemon import DEMO, HAND_MADE
from tests.support.publishing import Directories
from tests.support.steps import finish

_VALIDATORS = {
    tool.name: jsonschema.Draft202012Validator(
        msgspec.to_builtins(tool.definition()["outputSchema"]),
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )
    for tool in TOOLS
}

Data = Any
"""Decoded JSON."""


def demo_snapshot(directories: Directories, *, insights: bool = True) -> Snapshot:
    """Publish the sample business, with its insights or without."""
    (directories.data / "reviews.json").write_bytes((DEMO / "reviews.json").read_bytes())
    if insights:
        (directories.data / "insights.json").write_bytes(HAND_MADE.read_bytes())
    return published(directories)


def published(directories: Directories) -> Snapshot:
    """Publish the data directory."""
    directories.publish()
    return Snapshot(directories.current.resolve())


class _TextContent(msgspec.Struct):
    text: str


class ToolResult(msgspec.Struct, rename={"is_error": "isError", "structured": "structuredContent"}):
    """The result of a call as a client decodes it."""

    content: tuple[_TextContent]
    is_error: bool
    structured: msgspec.Raw = msgspec.Raw()

    @property
    def text(self) -> str:
        """The text of its only item."""
        return self.content[0].text

    @property
    def data(self) -> Data:
        """The structured content."""
        assert not self.is_error, self.text
        return json.loads(bytes(self.structured))


@dataclass(frozen=True, slots=True)
class Tools:
    """All tools on one snapshot."""

    snapshot: Snapshot
    budget: int = ANSWER_BUDGET

    def result(self, name: str, body: bytes) -> ToolResult:
        """Call a tool with a JSON body, and check what holds of every result."""
        answer = finish(call_tool(name, body, self.snapshot, self.budget))
        result = msgspec.json.decode(b"".join(answer.parts), type=ToolResult)
        structured = bytes(result.structured)
        assert result.is_error == (structured == b"")
        if not result.is_error:
            assert structured.decode() == result.text
            assert structured == msgspec.json.format(structured, indent=-1)
            _VALIDATORS[name].validate(json.loads(structured))
        return result

    def data(self, name: str, arguments: Mapping[str, object] = {}) -> Data:
        """Return the data of a successful call."""
        return self.result(name, json.dumps(arguments).encode()).data

    def size(self, name: str, arguments: Mapping[str, object] = {}) -> int:
        """Return the bytes of the text of a successful call."""
        return len(self.result(name, json.dumps(arguments).encode()).text.encode())

    def error(self, name: str, arguments: Mapping[str, object] = {}) -> str:
        """Return the error of a failed call."""
        result = self.result(name, json.dumps(arguments).encode())
        assert result.is_error, result.text
        return result.text
