"""The labels of a language model that the owner keeps in ``insights.labels`` (insights.md 12).

A line of JSON for each text, by its digest: an edited review has another digest, and is read by rules.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Final, cast

import msgspec
from msgspec import Struct

from reviewsd.analysis.aspects import ASPECTS, NO_PRAISE_OF_PEOPLE, STRONG
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels
from reviewsd.analysis.model_labels import VERSION, AspectAnswer, PersonAnswer, ReviewAnswer
from reviewsd.analysis.model_prompt import ENTITIES
from reviewsd.analysis.model_summary import KeptSummary
from reviewsd.api.files import Diagnostic
from reviewsd.api.places import LABELS_FILE
from reviewsd.domain.insights import Sentiment


class KeptLabel(Struct, frozen=True, kw_only=True):
    """A line of the file."""

    text: str
    """The ``text_key`` of the text and the rating."""
    model: str
    lists: str
    """The ``ModelLabels.lists`` that the model had."""
    labels: ReviewAnswer


_decode = msgspec.json.Decoder(KeptLabel).decode
_decode_summary = msgspec.json.Decoder(KeptSummary).decode
_encode = msgspec.json.Encoder().encode
_SUMMARY: Final = b'{"summary":'  # the beginning of a summary's line


class KeptLabels:
    """The content of the file.

    Args:
        content: The lines; of several for a text the last one counts. Whatever is behind the last end
            of a line is left out, because it was cut in the middle.
    """

    def __init__(self, content: bytes = b"") -> None:
        self._labels: dict[str, KeptLabel] = {}
        self._broken: list[int] = []
        self.summary: KeptSummary | None = None
        """The sentences that the model wrote."""
        digest = hashlib.blake2b(digest_size=16, key=VERSION.encode())
        lines = content.split(b"\n")[:-1]
        for number, line in enumerate(lines, start=1):
            try:
                if line.startswith(_SUMMARY):
                    self.summary = _decode_summary(line)
                    continue
                label = _decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                self._broken.append(number)
            else:
                self._labels[label.text] = label
                digest.update(line)
        self.digest = digest.digest() if self._labels else b""
        """Digest of everything that labels depend on; empty without labels."""

    def find(self, key: str) -> KeptLabel | None:
        """Return the label of a ``text_key``."""
        return self._labels.get(key)

    def faults(self) -> list[Diagnostic]:
        """Return the finding about lines that cannot be read."""
        if not self._broken:
            return []
        first, count = self._broken[0], len(self._broken)
        lines = f"line {first} is" if count == 1 else f"{count:,} lines, the first is {first}, are"
        reason = f"{lines} not of a label; rules read the reviews"
        return [Diagnostic(file=LABELS_FILE, reason=reason)]

    def encoded(self, keys: Collection[str] | None = None) -> bytes:
        """Return the content with a line for each text.

        Args:
            keys: The texts to keep; None keeps all.
        """
        labels = self._labels.values()
        lines = [encoded(label) for label in labels if keys is None or label.text in keys]
        if self.summary is not None and (keys is None or self.summary.keys() <= set(keys)):
            lines.append(encoded(self.summary))
        return b"".join(lines)


def encoded(label: KeptLabel | KeptSummary) -> bytes:
    """Return the line of a label or of a summary."""
    return _encode(label) + b"\n"


def merged(answer: ReviewAnswer, rules: Labels, model: str, *, is_current: bool) -> Labels:
    """Merge the labels of the model with those of the rules.

    Args:
        answer: The checked answer of the model.
        rules: The labels of the rules, which have strengths, wordings, entities with what is said of
            them, and service areas.
        model: The name of the model.
        is_current: Whether the model had the present lists; if not, people, services and own aspects
            of the rules count as well, because a new one was in no list.
    """
    by_opinion = {(label.id, label.sentiment): label for label in rules.aspects}
    aspects = [_aspect(item, by_opinion) for item in answer.aspects or ()]
    entities: dict[str, tuple[EntityLabel, ...]] = {}
    for kind in ENTITIES:
        by_rules = {
            label.id: label for label in cast("tuple[EntityLabel, ...]", getattr(rules, kind))
        }
        by_model = [_entity(item, by_rules, answer) for item in getattr(answer, kind) or ()]
        entities[kind] = tuple(by_model)
        if not is_current and kind != "problems":
            names = {label.id for label in by_model}
            entities[kind] += tuple(label for name, label in by_rules.items() if name not in names)
    if not is_current:
        labeled = {*ASPECTS, *(label.id for label in aspects)}
        aspects += (label for label in rules.aspects if label.id not in labeled)
    return Labels(
        words=rules.words,
        language=rules.language,
        aspects=tuple(aspects),
        service_areas=rules.service_areas,
        model=model,
        **entities,
    )


def _aspect(
    item: AspectAnswer, by_rules: Mapping[tuple[str, Sentiment], AspectLabel]
) -> AspectLabel:
    """Return the label of an aspect of an answer, with strength and wordings where the rules found the same."""
    sentiment = cast("Sentiment", item.sentiment)
    same = by_rules.get((item.id, sentiment))
    return AspectLabel(
        id=item.id,
        sentiment=sentiment,
        phrase=item.phrase,
        strength=STRONG if same is None else same.strength,
        wordings=() if same is None else same.wordings,
    )


def _entity(
    item: PersonAnswer | str, by_rules: Mapping[str, EntityLabel], answer: ReviewAnswer
) -> EntityLabel:
    """Return the label of an entity of an answer; what is said of a person is what the model found."""
    if isinstance(item, str):
        return by_rules.get(item) or EntityLabel(id=item)
    sentiment = cast("Sentiment", item.sentiment)
    label = by_rules.get(item.id) or EntityLabel(id=item.id)
    return EntityLabel(
        id=item.id,
        phrase=label.phrase,
        sentiment=sentiment,
        wordings=label.wordings if label.sentiment == sentiment else (),
        praised_for=_praised_for(label, answer) if sentiment == "positive" else (),
    )


def _praised_for(person: EntityLabel, answer: ReviewAnswer) -> tuple[str, ...]:
    """Return what the model praises in the clause that names a person, or anywhere if the rules agree."""
    clause = person.phrase or ""
    return tuple(
        aspect.id
        for aspect in answer.aspects or ()
        if aspect.sentiment == "positive"
        and aspect.id not in NO_PRAISE_OF_PEOPLE
        and (aspect.phrase in clause or aspect.id in person.praised_for)
    )
