"""Birdeye API, ``/v1/review/businessId/ID``: reviews of several sites in one array.

Those of Facebook have the word "Recommended" where others have stars.
"""

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.dates import dates_of
from reviewsctl.importing.ratings import recommends, stars
from reviewsctl.importing.review import Found, RowRefusedError
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import Reading
from reviewsctl.importing.values import address, titled, within, word, words


def _parser(head: Head, rules: Rules) -> Parser:
    dates = _dates("reviewDate", head, rules)
    answered = _dates("responseDate", head, rules)

    def read(row: Row) -> Found:
        review = row.fields
        site = word(review.get("sourceType"))
        if site is None:
            raise RowRefusedError("no sourceType")
        positive = recommends(review.get("rating"))
        if positive is None and word(review.get("rating")) in (None, "0"):
            positive = recommends(review.get("recommendationType"))
        names = (within(review, "reviewer", each) for each in ("firstName", "lastName"))
        nick = word(within(review, "reviewer", "nickName"))
        return Found(
            source=site.lower().replace(" ", "-"),
            key=word(review.get("reviewId")),
            author=nick or " ".join(filter(None, map(word, names))),
            avatar_url=address(within(review, "reviewer", "thumbnailUrl")),
            rating=stars(review.get("rating"))
            if positive is None
            else rules.scale.recommendation(positive, rules.counts),
            created=dates(review.get("reviewDate")),
            text=titled(review.get("title"), review.get("comments")),
            source_url=address(review.get("uniqueReviewUrl")),
            reply=reply_of(words(review.get("response")), review.get("responseDate"), answered),
            place=rules.place(review.get("businessId"), review.get("businessName")),
        )

    return read


def _dates(name: str, head: Head, rules: Rules) -> Reading:
    return dates_of(head.sample, rules.columns, name)[0]


FORMAT = Format(
    name="birdeye",
    title="Birdeye API, reviews of several sites",
    leaves="e-mail addresses, tags, tickets",
    likeness=Signature(
        ("reviewId", "reviewDate", "comments|rating", "sourceType", "reviewer"), shape="json"
    ),
    parser=_parser,
    verification="false: Birdeye does not say whether the site checked the author",
)
