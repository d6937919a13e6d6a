"""The section ``sources`` of the configuration, and the types that it shares with the other sections.

``docs/reference/configuration.md`` explains each key, and ``source_rules`` has the keys of each type of source.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from reviewsd.domain.data_errors import example, spelled

NonEmptyText = Annotated[str, Meta(min_length=1)]
Percentage = Annotated[str, spelled("(100|[0-9]{1,2})%", 'a percentage such as "50%"')]
SourceName = Annotated[
    str, spelled("[a-z0-9][a-z0-9-]{0,31}", "at most 32 letters a to z, digits and hyphens")
]
Interval = Annotated[str, spelled("[1-9][0-9]{0,4}[mhd]", 'a time such as "1h"')]
"""Minutes, hours or days; ``source_rules.seconds`` reads it."""


Account = Annotated[str, spelled("accounts/[A-Za-z0-9_-]{1,64}", 'a name such as "accounts/1234"')]
GoogleLocation = Annotated[
    str, spelled("locations/[A-Za-z0-9_-]{1,64}", 'a name such as "locations/1234"')
]


class ConfigSection(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the configuration."""


class SourceImport(ConfigSection, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The options of reviewsctl import for the files of a source."""

    from_: NonEmptyText = "auto"
    map: Annotated[dict[str, str], example("{rating: Score, date: Visited}")] = {}
    public: Annotated[dict[str, str], example("{Status: published}")] = {}
    date_format: NonEmptyText | None = None
    timezone: NonEmptyText | None = None
    source: NonEmptyText | None = None
    scale: Annotated[int, Meta(ge=2, le=100)] | NonEmptyText | None = None
    recommended: bool | None = None
    verified: bool | None = None
    names: Literal["full", "short"] | None = None
    location: NonEmptyText | None = None
    name: NonEmptyText | None = None


class ReviewSource(ConfigSection, frozen=True, kw_only=True, rename={"import_": "import"}):
    """A platform that reviews are downloaded from."""

    name: SourceName
    type: Literal["file", "url", "google-business", "trustpilot"]
    enabled: bool = True
    every: Interval = "1h"
    full: Interval = "24h"
    gone: Annotated[int, Meta(ge=1, le=100)] | Literal["keep"] = 2
    max_loss: Percentage = "10%"
    max_age: Interval | None = None
    requests_per_day: Annotated[int, Meta(ge=10, le=1_000_000)] = 2_000
    allow_private: bool = False
    import_: SourceImport = SourceImport()
    path: NonEmptyText | None = None
    url: NonEmptyText | None = None
    header_file: NonEmptyText | None = None
    client_file: NonEmptyText | None = None
    account: Account | None = None
    location: GoogleLocation | None = None
    business_unit: NonEmptyText | None = None
    key_file: NonEmptyText | None = None
    secret_file: NonEmptyText | None = None
