"""Data sets of any size in the published shapes (data-model.md 1, 2), the same for the same seed.

Rows come in no order of date and the aggregate is left out, so that a reader has to sort and count.
Everything streams: a million reviews take no more memory than ten thousand. The members are written
out here, as data made by the code under test would agree with its mistakes.

The speed of a search depends on how long texts are, how often a part of them occurs and how rare the
rarest words are. So lengths are log-normal, words, technicians and services follow Zipf's law, and
made-up words, the same for every seed, are the long tail that natural text has.
"""

import datetime
import itertools
import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from tests.support import vocabulary

_T = TypeVar("_T")
_Draw = Callable[[random.Random, int], list[_T]]
_Data = dict[str, object]

_FIRST_DAY = datetime.date(2017, 7, 1)
_DAYS = 8 * 365 + 2  # to 2025-06-30; fixed, because the same arguments give the same bytes
_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

_RATING_ONLY = 0.12  # share of the reviews without a text
_ANALYZED = 0.8  # share of the texts in per_review: 70 % of all reviews
_REPLIED = 0.3
_FOREIGN = 0.05  # share of the texts in another language
_LOG_LENGTH, _SIGMA = 5.0, 0.74  # mean of the logarithm of a text's length, and its deviation
_MAX_LENGTH = 5000
_OPINIONS = {
    5: ("positive", 0.8),
    4: ("positive", 0.5),
    3: ("neutral", 0.0),
    2: ("negative", -0.4),
    1: ("negative", -0.8),
}


def _weighted(values: Sequence[_T], weights: Sequence[float]) -> _Draw[_T]:
    sums = list(itertools.accumulate(weights))
    return lambda rng, count: rng.choices(values, cum_weights=sums, k=count)


def _zipf(values: Sequence[_T], exponent: float, offset: int = 0) -> _Draw[_T]:
    return _weighted(values, [(rank + offset) ** -exponent for rank in range(1, len(values) + 1)])


def _made_up(rng: random.Random) -> str:
    return "".join(rng.choices("etaoinsrhldcumfpgwybvk", k=rng.randint(5, 11)))


_STARS = _weighted((5, 4, 3, 2, 1), (62, 17, 7, 5, 9))
_SOURCES = _weighted(
    ("google", "yelp", "facebook", "trustpilot", "bbb", "website"), (58, 14, 10, 8, 7, 3)
)
_GLUE = _zipf(vocabulary.FUNCTION_WORDS, 1, 2)
_RARE_WORDS = map(_made_up, itertools.repeat(random.Random(20_000), 40_000))
_WORDS = _zipf([*vocabulary.COMMON_WORDS, *_RARE_WORDS], 1.3, 30)
_TECHNICIANS = _zipf(vocabulary.TECHNICIANS, 1.4)  # the first in 12 %, the last in 0.07 %
_SERVICES = _zipf(vocabulary.SERVICES, 1)
_PROBLEMS = _zipf(vocabulary.PROBLEMS, 1)
_AREAS = _zipf(vocabulary.AREAS, 1)
_TOPICS = _zipf(vocabulary.TOPICS, 0.7)


def _id(label: str) -> str:
    plain = unicodedata.normalize("NFKD", label.casefold()).encode("ascii", "ignore").decode()
    return plain.replace(" ", "-")


def _entities(labels: Sequence[str]) -> list[_Data]:
    return [{"id": _id(label), "name": label, "label": label} for label in labels]


_BUSINESS: _Data = {
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
    "hours": [{"day": "monday", "opens": "08:00", "closes": "17:00"}],
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
_INSIGHTS: _Data = {
    "version": 1,
    "model": "lexicon-1",
    "aspects": [
        {"id": aspect, "label": aspect.replace("_", " ").capitalize(), "top_phrases": [phrase]}
        for aspect, phrase in vocabulary.PRAISE[::2]
    ],
    "entities": {
        "technicians": _entities(vocabulary.TECHNICIANS),
        "services": _entities(vocabulary.SERVICES),
        "problems": _entities(vocabulary.PROBLEMS),
        "service_areas": _entities(vocabulary.AREAS),
    },
    "topics": _entities(vocabulary.TOPICS),
    "faq": [{"question": "How fast do they come?", "answer": "Many speak of the same day."}],
    "summary": "Customers praise quick, tidy work at a fair price; a few waited too long.",
    "pull_quote": "Found the fault in minutes.",
}


def _some(rng: random.Random, draw: _Draw[str], first: float, second: float = 0) -> list[str]:
    """Draw no label, one with the chance ``first``, or two with the chance ``first * second``."""
    if rng.random() >= first:
        return []
    return list(dict.fromkeys(draw(rng, 1 + (rng.random() < second))))


def _reviews(rng: random.Random, count: int) -> Iterator[tuple[_Data, _Data | None]]:
    """Yield reviews in no order, with their analysis or None."""
    for _ in range(count):
        (stars,), (source,) = _STARS(rng, 1), _SOURCES(rng, 1)
        day = _FIRST_DAY + datetime.timedelta(days=int(_DAYS * rng.random() ** 0.5))
        review_id = _ulid(rng, day)
        author = rng.choice(vocabulary.FIRST_NAMES)
        technicians = _some(rng, _TECHNICIANS, 0.42, 0.05)
        services = _some(rng, _SERVICES, 0.55, 0.15)
        text, analysis = None, None
        if rng.random() >= _RATING_ONLY:
            text, aspects = _text(rng, stars, technicians, services)
            if rng.random() < _ANALYZED:
                analysis = _analysis(rng, stars, aspects, technicians, services)
        avatar_url = f"https://avatars.example/{review_id[18:]}" if rng.random() < 0.1 else None
        source_url = f"https://{source}.example/{review_id[16:]}" if rng.random() < 0.25 else None
        reply = None
        if rng.random() < _REPLIED:
            reply_day = day + datetime.timedelta(days=rng.randrange(14))
            reply = {"text": rng.choice(vocabulary.REPLIES) % author, "date": str(reply_day)}
        review: _Data = {
            "id": review_id,
            "author": f"{author} {rng.choice(vocabulary.LAST_NAMES)}",
            "author_avatar_url": avatar_url,
            "rating": stars,
            "date": str(day),
            "text": text,
            "source": source,
            "source_url": source_url,
            "owner_reply": reply,
            "verified": source != "website" and rng.random() < 0.95,
        }
        yield review, analysis


def _ulid(rng: random.Random, day: datetime.date) -> str:
    """Return an id made on a day."""
    seconds = (day - datetime.date(1970, 1, 1)).days * 86_400 + rng.randrange(86_400)
    bits = seconds * 1000 << 80 | rng.getrandbits(80)
    return "".join([_BASE32[bits >> shift & 31] for shift in range(125, -1, -5)])


def _text(
    rng: random.Random, stars: int, technicians: list[str], services: list[str]
) -> tuple[str, list[_Data]]:
    """Return a text that names these labels, and the aspects it is about."""
    length = min(rng.lognormvariate(_LOG_LENGTH, _SIGMA), _MAX_LENGTH)
    sentences = [rng.choice(vocabulary.NAMED) % name.split()[0] for name in technicians]
    sentences += [rng.choice(vocabulary.SERVICED) % label for label in services]
    aspects: dict[str, _Data] = {}
    foreign = rng.random() < _FOREIGN
    while not sentences or sum(map(len, sentences)) < length:
        praised = rng.random() < stars / 5
        aspect, phrase = rng.choice(vocabulary.PRAISE if praised else vocabulary.COMPLAINTS)
        if foreign:
            sentences.append(rng.choice(vocabulary.FOREIGN))
        elif aspect not in aspects and rng.random() < 0.4:
            sentiment = "positive" if praised else "negative"
            aspects[aspect] = {"id": aspect, "sentiment": sentiment, "phrase": phrase}
            sentences.append(phrase)
        else:
            pairs = rng.randint(2, 7)
            words = zip(_GLUE(rng, pairs), _WORDS(rng, pairs), strict=True)
            sentences.append(" ".join(itertools.chain(*words)))
    text = ". ".join([sentence[0].upper() + sentence[1:] for sentence in sentences])
    ending = rng.choice(vocabulary.EMOJI) if rng.random() < 0.1 else "!"
    return text + ending, list(aspects.values())


def _analysis(
    rng: random.Random,
    stars: int,
    aspects: list[_Data],
    technicians: list[str],
    services: list[str],
) -> _Data:
    sentiment, score = _OPINIONS[stars]
    labels = {
        "technicians": technicians,
        "services": services,
        "problems": _some(rng, _PROBLEMS, 0.5 if stars <= 3 else 0.05, 0.1),
        "service_areas": _some(rng, _AREAS, 0.1),
        "topics": _some(rng, _TOPICS, 0.5, 0.1),
    }
    return {
        "sentiment": sentiment,
        "score": round(score + rng.random() * 0.2 - 0.1, 2),
        "aspects": aspects,
        **{kind: [_id(label) for label in names] for kind, names in labels.items()},
    }


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of ``path`` when complete: a daemon may be watching."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_data(directory: Path, *, reviews: int, seed: int = 1) -> None:
    """Write ``reviews.json`` and ``insights.json``; the same arguments give the same bytes.

    Args:
        directory: The folder, made when it does not exist.
        reviews: The number of reviews.
        seed: Another one gives other data of the same kind.
    """
    directory.mkdir(parents=True, exist_ok=True)
    encode = msgspec.json.encode
    review_path, insight_path = directory / "reviews.json", directory / "insights.json"
    with _replacing(review_path) as review_file, _replacing(insight_path) as insight_file:
        review_file.write(b'{"business":%s,"reviews":[\n' % encode(_BUSINESS))
        insight_file.write(encode(_INSIGHTS)[:-1] + b',"per_review":{\n')
        review_divider = insight_divider = b""
        for review, analysis in _reviews(random.Random(seed), reviews):
            review_file.write(review_divider + encode(review))
            review_divider = b",\n"
            if analysis is not None:
                insight_file.write(insight_divider)
                insight_file.write(b"%s:%s" % (encode(review["id"]), encode(analysis)))
                insight_divider = b",\n"
        review_file.write(b"\n]}\n")
        insight_file.write(b"\n}}\n")
