"""Data sets of any size in the published shapes (data-model.md 1, 2), the same for the same seed.

    python -m tests.support.generate DIR --reviews 100000

Rows come in no order of date and the aggregate is left out, so that a reader has to sort and count.
Everything streams: a million reviews take no more memory than ten thousand.

The structs here say again what ``reviewsd.domain`` says, on purpose: data made by the code under
test would agree with its mistakes.
"""

import argparse
import datetime
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from tests.support import vocabulary
from tests.support.insights import MEMBERS, SERVICES, TECHNICIANS, Analysis, analyse, some
from tests.support.texts import AspectMention, Texts
from tests.support.vocabulary import Weighted, pick

_BATCH = 1000  # reviews between two writes
_FIRST_DAY = datetime.date(2017, 7, 1)
_DAYS = 8 * 365 + 2  # to 2025-06-30; fixed, because the same arguments give the same bytes
_DAY_MS = 86_400_000
_WEEKDAYS = (1.2, 1.1, 1.05, 1.05, 1.0, 0.8, 0.75)  # Monday first
_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE32_PAIRS = [a + b for a in _BASE32 for b in _BASE32]  # ten bits of a ULID each
_SHARES = {5: 62, 4: 17, 3: 7, 2: 5, 1: 9}  # per cent of the reviews with these stars
_REPLIED = {5: 0.27, 4: 0.27, 3: 0.32, 2: 0.45, 1: 0.45}  # 30 % in all
_SOURCES = Weighted.of(
    ("google", "yelp", "facebook", "trustpilot", "bbb", "angi", "website"),
    (58, 14, 10, 8, 5, 3, 2),
)

_RATING_ONLY = 0.12  # share of the reviews without a text
_ANALYSED = 0.8  # share of the texts in per_review: 70 % of all reviews

_BUSINESS = {
    "id": "acme-comfort",
    "name": "Acme Comfort & Plumbing",
    "description": "Heating, cooling, plumbing and electrical work on the New Hampshire seacoast.",
    "category": "HVACBusiness",
    "url": "https://acme.example",
    "phone": "+1-555-0100",
    "email": "office@acme.example",
    "address": {
        "street": "12 Quay St",
        "city": "Portsmouth",
        "region": "NH",
        "postal_code": "03801",
        "country": "US",
    },
    "geo": {"latitude": 43.07, "longitude": -70.76},
    "hours": [
        {"day": day, "opens": "08:00", "closes": "17:00"}
        for day in ("monday", "tuesday", "wednesday", "thursday", "friday")
    ],
    "service_areas": vocabulary.AREAS,
    "social_urls": ["https://social.example/acme"],
    "review_urls": {"google": "https://g.example/acme"},
    "logo_url": "https://acme.example/logo.png",
    "language": "en",
    "verification_statement": "Acme asks every customer by e-mail after the work is done.",
    "reports": None,
    "legal_notice_url": None,
    "privacy_url": None,
}


class _Reply(msgspec.Struct, frozen=True):
    text: str
    date: str


class _Review(msgspec.Struct, frozen=True):
    id: str
    author: str
    author_avatar_url: str | None
    rating: int
    date: str
    text: str | None
    source: str
    source_url: str | None
    owner_reply: _Reply | None
    verified: bool


class _Calendar:
    """Days to draw from: more each year, more on a Monday than on a Sunday."""

    def __init__(self) -> None:
        days = [_FIRST_DAY + datetime.timedelta(days=n) for n in range(_DAYS + 60)]
        self.names = [day.isoformat() for day in days]
        """Also of the days after the last review: replies come later."""
        self.days = Weighted.of(
            range(_DAYS),
            [(1 + 5 * n / _DAYS) * _WEEKDAYS[days[n].weekday()] for n in range(_DAYS)],
        )
        self._start_ms = (_FIRST_DAY - datetime.date(1970, 1, 1)).days * _DAY_MS

    def ulid(self, rng: random.Random, day: int) -> str:
        """An id made on that day."""
        moment = self._start_ms + day * _DAY_MS + int(rng.random() * _DAY_MS)
        bits = moment << 80 | rng.getrandbits(80)
        return "".join([_BASE32_PAIRS[bits >> shift & 1023] for shift in range(120, -1, -10)])


def _reviews(rng: random.Random, count: int) -> Iterator[tuple[_Review, Analysis | None]]:
    """Reviews in no order, with what the analysis says of seven in ten."""
    calendar, texts = _Calendar(), Texts(rng)
    ratings = Weighted.of(tuple(_SHARES), tuple(_SHARES.values()))
    for _ in range(count):
        rating, day, source = ratings.one(rng), calendar.days.one(rng), _SOURCES.one(rng)
        review_id = calendar.ulid(rng, day)
        first_name = pick(rng, vocabulary.FIRST_NAMES)
        technicians = some(rng, TECHNICIANS, 0.42, 0.05)
        services = some(rng, SERVICES, 0.55, 0.15)
        text, mentions = None, list[AspectMention]()
        if rng.random() >= _RATING_ONLY:
            text, mentions = texts.write(rating, technicians, services)
        review = _Review(
            id=review_id,
            author=f"{first_name} {pick(rng, vocabulary.LAST_NAMES)}",
            author_avatar_url=f"https://avatars.example/{review_id[18:]}"
            if rng.random() < 0.1
            else None,
            rating=rating,
            date=calendar.names[day],
            text=text,
            source=source,
            source_url=f"https://{source}.example/r/{review_id[16:]}"
            if rng.random() < 0.25
            else None,
            owner_reply=_reply(rng, calendar, first_name, day)
            if rng.random() < _REPLIED[rating]
            else None,
            verified=source != "website" and rng.random() < 0.95,
        )
        analysis = None
        if text is not None and rng.random() < _ANALYSED:
            analysis = analyse(rng, rating, mentions, technicians, services)
        yield review, analysis


def _reply(rng: random.Random, calendar: _Calendar, first_name: str, day: int) -> _Reply:
    parts = [
        pick(rng, vocabulary.REPLY_OPENINGS) % first_name,
        pick(rng, vocabulary.REPLY_BODIES),
        pick(rng, vocabulary.REPLY_ENDINGS),
    ]
    delay = min(int(rng.expovariate(0.3)), 59)
    return _Reply(" ".join(parts).rstrip(), calendar.names[day + delay])


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` when it is complete: a daemon may be watching."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_data(
    directory: Path,
    *,
    reviews: int,
    seed: int = 1,
    insights: bool = True,
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Write ``reviews.json`` and ``insights.json``; the same arguments give the same bytes.

    Args:
        directory: Where to; made when it does not exist.
        reviews: How many.
        seed: Another one gives other data of the same kind.
        insights: Without, ``insights.json`` is removed; ``reviews.json`` stays the same.
        progress: Called now and then with the number of reviews written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    stream = _reviews(rng, reviews)
    encode = msgspec.json.encode
    with ExitStack() as files:
        review_file = files.enter_context(_replacing(directory / "reviews.json"))
        insight_file = None
        if insights:
            insight_file = files.enter_context(_replacing(directory / "insights.json"))
            insight_file.write(encode(MEMBERS)[:-1] + b',"per_review":{')
            analysed = 0
        review_file.write(b'{"business":%s,"reviews":[' % encode(_BUSINESS))
        for start in range(0, reviews, _BATCH):
            batch = list(itertools.islice(stream, _BATCH))
            divider = b",\n" if start else b"\n"
            review_file.write(divider + b",\n".join([encode(review) for review, _ in batch]))
            if insight_file:
                for review, analysis in batch:
                    if analysis is not None:
                        divider = b",\n" if analysed else b"\n"
                        insight_file.write(
                            b'%s"%s":%s' % (divider, review.id.encode(), encode(analysis))
                        )
                        analysed += 1
            progress(start + len(batch))
        review_file.write(b"\n]}\n")
        if insight_file:
            insight_file.write(b"\n}}\n")
    if not insights:
        (directory / "insights.json").unlink(missing_ok=True)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.generate", description="Write a data set of any size."
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--reviews", type=int, required=True, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--no-insights", dest="insights", action="store_false")
    arguments = parser.parse_args()
    start = time.monotonic()

    def show(count: int) -> None:
        seconds = time.monotonic() - start
        sys.stderr.write(f"\r{count:,} of {arguments.reviews:,} reviews, {seconds:.1f} s")
        sys.stderr.flush()

    write_data(**vars(arguments), progress=show)
    sys.stderr.write("\n")
    for name in ("reviews.json", "insights.json"):
        if (path := arguments.directory / name).exists():
            sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    _main()
