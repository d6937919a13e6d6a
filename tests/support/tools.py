"""Tools called on a snapshot; each answer is checked for what holds of all of them (mcp.md 5.4)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema
import msgspec

from reviewsd.mcp.answers import ToolAnswer
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.mcp.tools import TOOLS
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.daemon import DEMO
from tests.support.publishing import Directories

_VALIDATORS = {
    tool.name: jsonschema.Draft202012Validator(
        msgspec.to_builtins(tool.definition()["outputSchema"]),
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )
    for tool in TOOLS
}

Data = Any
"""What JSON has decoded."""


def demo_snapshot(directories: Directories, *, insights: bool = True) -> Snapshot:
    """The sample business, with its insights or without."""
    for name in ("reviews.json", *(["insights.json"] if insights else [])):
        (directories.data / name).write_bytes((DEMO / name).read_bytes())
    return published(directories)


def published(directories: Directories) -> Snapshot:
    """What the data directory holds."""
    directories.publish()
    return Snapshot(directories.current.resolve())


@dataclass(frozen=True, slots=True)
class Tools:
    """All tools on one snapshot."""

    snapshot: Snapshot
    toolbox: Toolbox = field(default_factory=Toolbox)

    def answer(self, name: str, given: bytes) -> ToolAnswer:
        """What a call comes to, checked."""
        steps = self.toolbox.call(name, given, self.snapshot)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                answer: ToolAnswer = end.value
                break
        text = json.loads(answer.text)
        assert answer.is_error == (answer.structured is None)
        if answer.structured is not None:
            structured = b"".join(answer.structured)
            assert structured.decode() == text
            assert structured == msgspec.json.format(structured, indent=-1)
            _VALIDATORS[name].validate(json.loads(structured))
        return answer

    def data(self, name: str, arguments: Mapping[str, object] = {}) -> Data:
        """The data of a call that is granted."""
        answer = self.answer(name, json.dumps(arguments).encode())
        assert answer.structured is not None, answer.text
        return json.loads(b"".join(answer.structured))

    def size(self, name: str, arguments: Mapping[str, object] = {}) -> int:
        """Bytes of the text of a call that is granted."""
        return len(json.loads(self.answer(name, json.dumps(arguments).encode()).text).encode())

    def error(self, name: str, arguments: Mapping[str, object] = {}) -> str:
        """What the agent is told of a call that is not."""
        answer = self.answer(name, json.dumps(arguments).encode())
        assert answer.is_error, answer.text
        told: str = json.loads(answer.text)
        return told
