"""Whatever stands in a row: it becomes a review that the daemon accepts, or it is refused."""

import datetime
import zoneinfo

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import RowRefusedError, RowSkippedError
from reviewsctl.importing.format import Fields, Format, Reader, Row
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings
from reviewsd.domain.reviews import Review
from tests.support.shop import SAMPLES

FILES = (
    *("takeout", "google_api.json", "places.json", "outscraper.csv", "outscraper.json"),
    *("apify.json", "trustpilot.csv", "trustpilot_api.json", "podium.json", "yelp.json"),
    *("bom.csv", "cp1252_semicolons.csv", "own.json", "google_batch.json", "places_legacy.json"),
    *("serpapi.json", "outscraper_trustpilot.csv", "facebook.json", "apify_facebook.json"),
    *("tripadvisor.json", "apify_tripadvisor.json", "yotpo.json", "yotpo.csv", "judgeme.json"),
    *("judgeme.csv", "stamped.json", "birdeye.json", "deutsch.csv"),
)
ZONE = zoneinfo.ZoneInfo("Pacific/Apia")  # the largest offset there is

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        [
            *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "12/31/9999 23:59:59"),
            *("1970-01-01", "0000-00-00", "99999999999999", "1e400", "\0", " ", "5"),
            *("FIVE", "2025-03-14T10:00:00Z", "a@b.cd", "javascript:alert(1)", "https://x/"),
        ]
    ),
    st.lists(st.none(), max_size=2),
    st.dictionaries(st.sampled_from(["text", "comment", "displayName", "name"]), st.text()),
)


def opened(file: str) -> tuple[Format, Reader, Fields]:
    export = chosen(parts_of(SAMPLES / file), "auto")
    head = export.sources[0].head
    settings = Settings(
        timezone=ZONE, names="short", verified=True, scale=Scale(best=10, recommended=True)
    )
    return export.format, export.format.reader(head, settings), head.sample[0]


OPENED = [opened(file) for file in FILES]


def changed(fields: Fields, data: st.DataObject) -> dict[str, object]:
    """Some members replaced, also within the objects of a row, or taken away."""
    row: dict[str, object] = {}
    for name, value in fields.items():
        choice = data.draw(st.integers(0, 3))
        if choice == 0 and isinstance(value, dict):
            row[name] = changed(value, data)
        elif choice == 1:
            row[name] = data.draw(ODD)
        elif choice != 2:
            row[name] = value
    return row


@given(st.sampled_from(range(len(FILES))), st.data())
def test_a_row_becomes_a_valid_review_or_is_refused(which: int, data: st.DataObject) -> None:
    _, read, fields = OPENED[which]
    row = changed(fields, data)
    try:
        entry = read(Row(row))
    except (RowRefusedError, RowSkippedError) as refusal:
        assert str(refusal)  # noqa: PT017  # either is right
        return
    review = msgspec.convert(entry.record, Review)

    assert entry.key
    assert f"{entry.key}{entry.place}".encode()
    assert datetime.date.min <= review.date
