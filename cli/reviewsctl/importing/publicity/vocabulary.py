"""Words by which exports say what is public: in names of members, and as values (vocabulary.toml)."""

from pathlib import Path
from typing import Final

import msgspec


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of the file."""

    positive_stems: tuple[str, ...]
    negative_stems: tuple[str, ...]
    doubtful_stems: tuple[str, ...]
    showing_stems: tuple[str, ...]
    to_be: frozenset[str]
    check_stems: tuple[str, ...]
    show_verbs: frozenset[str]
    status_stems: tuple[str, ...]
    last_public: frozenset[str]
    last_withheld: frozenset[str]
    fillers: frozenset[str]
    trailing: frozenset[str]
    archives: frozenset[str]
    negations: frozenset[str]
    presence: frozenset[str]
    reasons: frozenset[str]
    by: frozenset[str]
    place: frozenset[str]
    replies: frozenset[str]
    people: frozenset[str]
    names: frozenset[str]
    things: frozenset[str]
    own: frozenset[str]
    no_signs: frozenset[str]
    wrappers: frozenset[str]
    generic: frozenset[str]
    places: frozenset[str]
    kinds: frozenset[str]
    public: frozenset[str]
    withheld: frozenset[str]
    says_nothing: frozenset[str]
    not_received: frozenset[str]
    platforms: dict[str, dict[str, frozenset[str]]]


VOCABULARY: Final = msgspec.toml.decode(
    Path(__file__).with_name("vocabulary.toml").read_bytes(), type=Vocabulary
)
