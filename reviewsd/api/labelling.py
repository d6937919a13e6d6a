"""The lines between ``reviewsd --insights labelled`` and ``reviewsctl`` (insights.md 7)."""

from typing import Literal

from msgspec import Raw, Struct


class DataFolder(Struct, frozen=True, kw_only=True, tag_field="type", tag="folder"):
    """The data directory; the first line."""

    data_dir: str
    file: Literal["none", "rules", "other"]
    """Who made the insights.json that is there."""


class Plan(Struct, frozen=True, kw_only=True, tag_field="type", tag="plan"):
    """What there is to ask; the second line."""

    reviews: int
    wordless: int
    known: int
    """Different texts that have their labels, or that rules label after a model failed."""
    wanted: int
    """Those to ask for now."""
    left: int
    """Those that the limit leaves for another time."""
    batches: int
    bytes: int
    """To send, roughly."""
    people: int
    """Named in insights.yaml, and so to the model."""
    instructions: str
    schema: dict[str, object]


class LabelCommand(Struct, frozen=True, kw_only=True):
    """What ``reviewsctl`` asks for; each has one line as its answer."""

    type: Literal["next", "answer", "end"]
    text: str = ""


class LabelBatch(Struct, frozen=True, kw_only=True, tag_field="type", tag="batch"):
    """The answer to ``next``: reviews to ask for at once."""

    reviews: int
    """0 where all are asked."""
    content: str = ""
    """A JSON array."""


class Verdict(Struct, frozen=True, kw_only=True, tag_field="type", tag="verdict"):
    """The answer to ``answer``: what of it is believed."""

    labels: int
    refused: int
    faults: tuple[str, ...]
    by_rules: bool
    """The batch is left to the rules."""
    record: dict[str, object] | None
    """To keep for a later run. None: ask once more, with the faults."""


class Labelled(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The answer to ``end``: the outcome."""

    by_model: int
    """Reviews."""
    by_rules: int
    """Reviews with words that no model labelled."""
    insights: Raw
