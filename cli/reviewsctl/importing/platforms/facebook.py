"""Facebook's recommendations: the Graph API (``/PAGE/ratings``), and Apify's facebook-reviews-scraper.

Since 2018 they have no stars: who writes recommends the page or does not. Older ones have a rating.
"""

from collections.abc import Sequence

from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Rules
from reviewsctl.importing.ratings import recommends, stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, first, truth, within, word, words

SOURCE = "facebook"
_VERIFICATION = "false: Facebook does not check that authors are customers"


def _parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        story = word(within(review, "open_graph_story", "id"))
        return Found(
            source=SOURCE,
            # a person has one recommendation of a page
            key=story or word(within(review, "reviewer", "id")),
            author=within(review, "reviewer", "name"),
            rating=_rating(review, rules),
            created=moment(review.get("created_time")),
            text=words(review.get("review_text")),
        )

    return read


def _rating(review: Fields, rules: Rules) -> int:
    if word(review.get("rating")) is not None:
        return stars(review["rating"])
    return rules.scale.recommendation(recommends(review.get("recommendation_type")), rules.counts)


def _missing(heads: Sequence[Head], _count: int) -> str:
    if all(word(within(head.around, "paging", "next")) for head in heads):
        return "the last page is not here: follow paging.next and import the other pages too"
    return ""


def _apify_parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        return Found(
            source=SOURCE,
            key=word(first(review, "id", "legacyId", "url")),
            author=within(review, "user", "name"),
            avatar_url=address(within(review, "user", "profilePic")),
            rating=rules.scale.recommendation(truth(review.get("isRecommended")), rules.counts),
            created=moment(review.get("date")),
            text=words(review.get("text")),
            source_url=address(review.get("url")),
            place=rules.place(
                first(review, "facebookId", "pageId", "facebookUrl"), review.get("pageName")
            ),
        )

    return read


GRAPH = Format(
    name="facebook",
    title="Facebook Graph API, ratings of a page",
    leaves="comments, reactions, photos",
    likeness=Signature(
        (
            "created_time",
            "recommendation_type|has_rating|rating",
            "reviewer|review_text|has_review|open_graph_story",
        ),
        shape="json",
    ),
    parser=_parser,
    verification=_VERIFICATION,
    incomplete=_missing,
)
APIFY = Format(
    name="apify-facebook",
    title="Apify, facebook-reviews-scraper",
    leaves="comments, likes, photos",
    likeness=Signature(("isRecommended", "date", "user.name|user.id")),
    parser=_apify_parser,
    verification=_VERIFICATION,
)
