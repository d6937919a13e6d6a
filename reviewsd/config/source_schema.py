"""The section ``sources`` of the configuration, and the types that it shares with the other sections.

``source_rules`` has the keys of each type of source.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

END = r"(?![\s\S])"  # "$" alone would match before a final newline

NonEmptyText = Annotated[str, Meta(min_length=1)]
Percentage = Annotated[
    str,
    Meta(pattern=r"^(100|[0-9]{1,2})%" + END, extra={"expected": 'a percentage such as "50%"'}),
]
SourceName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9-]{0,31}" + END,
        extra={"expected": "at most 32 letters a to z, digits and hyphens"},
    ),
]
Interval = Annotated[
    str,
    Meta(pattern=r"^[1-9][0-9]{0,4}[mhd]" + END, extra={"expected": 'a time such as "1h"'}),
]
"""Minutes, hours or days; ``source_rules.seconds`` reads it."""


class ConfigSection(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the configuration."""


class SourceImport(ConfigSection, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The options of reviewsctl import for the files of a source."""

    from_: Annotated[NonEmptyText, Meta(description="The format, or auto.")] = "auto"
    map: Annotated[
        dict[str, str],
        Meta(
            description="Columns of a table: date, rating, text and so on, each with its name there."
        ),
    ] = {}
    public: Annotated[
        dict[str, str],
        Meta(description="The value of a column by which its platform calls a review public."),
    ] = {}
    date_format: Annotated[
        NonEmptyText | None, Meta(description="The form of dates in a table, such as %d/%m/%Y.")
    ] = None
    timezone: Annotated[NonEmptyText, Meta(description="The time zone of the business.")] = "UTC"
    source: Annotated[
        NonEmptyText | None,
        Meta(description="The platform of the reviews of a table without a column for it."),
    ] = None
    scale: Annotated[
        NonEmptyText | None, Meta(description="The best rating of a table, such as 10.")
    ] = None
    recommended: Annotated[
        bool, Meta(description="Whether a recommendation counts as 5 stars, its opposite as 1.")
    ] = False
    verified: Annotated[
        bool | None,
        Meta(description="Whether authors are customers, if the files do not have it."),
    ] = None
    names: Annotated[
        Literal["full", "short"] | None, Meta(description="Names in full, or as Jane D.")
    ] = None
    location: Annotated[
        NonEmptyText | None, Meta(description="The location, if the files have several.")
    ] = None
    name: Annotated[
        NonEmptyText | None,
        Meta(description="The name of the business, if the files do not have it."),
    ] = None


class ReviewSource(ConfigSection, frozen=True, kw_only=True, rename={"import_": "import"}):
    """A platform that reviews are downloaded from."""

    name: Annotated[SourceName, Meta(description="The name, as logs and commands show it.")]
    type: Annotated[
        Literal["file", "url", "google-business", "trustpilot"],
        Meta(description="The kind of source."),
    ]
    enabled: Annotated[bool, Meta(description="Whether it is read.")] = True
    every: Annotated[Interval, Meta(description="Time between two runs: 5m to 7d.")] = "1h"
    full: Annotated[
        Interval,
        Meta(description="Time after which all reviews are read, even if none seems new."),
    ] = "24h"
    gone: Annotated[
        Annotated[int, Meta(ge=1, le=100)] | Literal["keep"],
        Meta(description="Complete reads without a review before it is removed; or keep."),
    ] = 2
    max_loss: Annotated[
        Percentage, Meta(description="Part of the reviews that may be gone at once.")
    ] = "10%"
    max_age: Annotated[
        Interval | None,
        Meta(
            description="Time after the last complete read at which its reviews leave; 30d for google-business."
        ),
    ] = None
    requests_per_day: Annotated[
        int, Meta(ge=10, le=1_000_000, description="Requests that it may take.")
    ] = 2_000
    allow_private: Annotated[
        bool,
        Meta(
            description="Whether addresses of this machine and of private networks may be dialed."
        ),
    ] = False
    import_: Annotated[SourceImport, Meta(description="The options of reviewsctl import.")] = (
        SourceImport()
    )
    path: Annotated[
        NonEmptyText | None, Meta(description="file: a path or a pattern; the newest file is read.")
    ] = None
    url: Annotated[NonEmptyText | None, Meta(description="url: the address.")] = None
    header_file: Annotated[
        NonEmptyText | None, Meta(description="url: a file with one line, a header of the request.")
    ] = None
    client_file: Annotated[
        NonEmptyText | None,
        Meta(description="google-business: the client of a desktop app, as Google Cloud gives it."),
    ] = None
    account: Annotated[NonEmptyText | None, Meta(description="google-business: accounts/1234.")] = (
        None
    )
    location: Annotated[
        NonEmptyText | None, Meta(description="google-business: locations/5678.")
    ] = None
    business_unit: Annotated[
        NonEmptyText | None, Meta(description="trustpilot: the domain of the business.")
    ] = None
    key_file: Annotated[
        NonEmptyText | None, Meta(description="trustpilot: a file with the API key.")
    ] = None
    secret_file: Annotated[
        NonEmptyText | None, Meta(description="trustpilot: a file with the API secret.")
    ] = None
