"""Podium API, ``GET /v4/reviews`` (docs.podium.com): reviews of several sites in one list."""

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found, RowRefusedError
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, word, words


def _parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        fields = row.fields
        review = members(fields.get("review"))
        site = word(review.get("siteName"))
        if site is None:
            raise RowRefusedError("no review.siteName")
        recommends = fields.get("isRecommendation", review.get("isRecommendation"))
        if recommends is True:
            rules.counts["recommendation"] += 1
        answers = fields.get("responses")
        answer = members(answers[0]) if isinstance(answers, list) and answers else {}
        places = fields.get("locations")
        place = members(places[0]) if isinstance(places, list) and places else {}
        return Found(
            source=site.lower(),
            key=word(review.get("siteReviewId")) or word(fields.get("uid")),
            author=members(fields.get("author")).get("name"),
            rating=stars(review.get("rating")),
            created=moment(fields.get("createdAt")),
            text=words(review.get("body")),
            source_url=address(review.get("url")),
            reply=reply_of(
                words(answer.get("body")), answer.get("createdAt") or answer.get("publishDate")
            ),
            place=rules.place(place.get("uid") or fields.get("locationUid")),
        )

    return read


FORMAT = Format(
    name="podium",
    title="Podium API, reviews",
    leaves="attributions to employees, all responses but the first",
    likeness=Signature(("uid", "author", "review", "createdAt"), shape="json"),
    verification="false: Podium does not say whether the site checked the author",
    parser=_parser,
)
