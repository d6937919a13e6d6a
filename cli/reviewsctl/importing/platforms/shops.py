"""Review apps of web shops, which ask buyers by e-mail: Yotpo, Judge.me and Stamped.

They know who has bought, and say so of each review.
"""

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.any_csv import table
from reviewsctl.importing.platforms.dates import platform_dates
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import AMERICAN, legible, moment
from reviewsctl.importing.values import address, titled, truth, within, word, words

YOTPO, JUDGEME, STAMPED = "yotpo", "judge.me", "stamped"
_STAMPED_WHEN = ("dateCreated", "reviewDate")
_STAMPED_REPLIED = ("reviewReplyDate", "dateReplied")
_BUYER = 2  # Stamped's reviewVerifiedType: 0 is nobody known, 1 an address that was confirmed


def _yotpo_parser(_head: Head, _rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        said = review.get("verified_buyer")
        name = within(review, "user", "display_name")
        return Found(
            source=YOTPO,
            key=word(review.get("id")),
            author=review.get("name") if name is None else name,
            rating=stars(review.get("score")),
            created=moment(review.get("created_at")),
            text=titled(review.get("title"), review.get("content")),
            reply=reply_of(
                words(within(review, "comment", "content")),
                within(review, "comment", "created_at"),
            ),
            verified=truth(review.get("reviewer_type") if said is None else said),
        )

    return read


def _judgeme_parser(_head: Head, _rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        return Found(
            source=JUDGEME,
            key=word(review.get("id")),
            author=within(review, "reviewer", "name"),
            rating=stars(review.get("rating")),
            created=moment(review.get("created_at")),
            text=titled(review.get("title"), review.get("body")),
            verified=truth(review.get("verified")),
        )

    return read


def _stamped_parser(head: Head, rules: Rules) -> Parser:
    dates = platform_dates(
        head, rules, _STAMPED_WHEN, _STAMPED_REPLIED, zone=rules.zone, native=AMERICAN
    )

    def read(row: Row) -> Found:
        review = row.fields
        kind = word(review.get("reviewVerifiedType"))
        return Found(
            source=STAMPED,
            key=word(review.get("id")),
            author=review.get("author"),
            avatar_url=address(review.get("avatar")),
            rating=stars(review.get("reviewRating")),
            created=dates(legible(review, _STAMPED_WHEN, dates)),
            text=titled(review.get("reviewTitle"), review.get("reviewMessage")),
            reply=reply_of(
                words(review.get("reviewReply")),
                legible(review, _STAMPED_REPLIED, dates),
                dates,
            ),
            verified=None if kind is None else kind == str(_BUYER),
        )

    return read


YOTPO_API = Format(
    name="yotpo",
    title="Yotpo API, reviews",
    leaves="products, votes, e-mail addresses, what is not published",
    likeness=Signature(
        ("score", "content", "created_at", "verified_buyer|reviewer_type"), shape="json"
    ),
    parser=_yotpo_parser,
    verification="verified_buyer, reviewer_type",
)
YOTPO_CSV = table(
    "yotpo-csv",
    "Yotpo, export of reviews",
    source=YOTPO,
    likeness=Signature(("Review Title", "Review Content", "Review Score"), shape="table"),
    verification="the column Verified Buyer, Verified Purchase or Reviewer Type",
)
JUDGEME_API = Format(
    name="judgeme",
    title="Judge.me API, reviews",
    leaves="products, photos, e-mail addresses, what is not published",
    likeness=Signature(
        ("rating", "body", "created_at", "reviewer.name", "verified|curated"), shape="json"
    ),
    parser=_judgeme_parser,
    verification="verified, where it is buyer",
)
JUDGEME_CSV = table(
    "judgeme-csv",
    "Judge.me, export of reviews",
    source=JUDGEME,
    # its column source says how the review was collected
    unmapped=("source",),
    likeness=Signature(
        ("title", "body", "rating", "review_date", "reviewer_name", "product_handle|curated"),
        shape="table",
    ),
    verification="false: the export does not say who bought",
)
STAMPED_API = Format(
    name="stamped",
    title="Stamped, reviews",
    leaves="products, photos, votes, e-mail addresses",
    likeness=Signature(("reviewRating", "reviewMessage", "reviewTitle", "dateCreated|reviewDate")),
    parser=_stamped_parser,
    verification="reviewVerifiedType, where it is 2 (a buyer)",
)
