"""Review apps of web shops and of local businesses: Yotpo, Judge.me, Stamped, Podium and Birdeye.

Those of web shops ask buyers by e-mail, and say of each review whether its author has bought. Podium and Birdeye have the
reviews of several sites in one list; of those of Facebook Birdeye has the word "Recommended" as the rating.
"""

from reviewsctl.importing.errors import RowRefusedError
from reviewsctl.importing.format import Fields, Format, Head, Signature
from reviewsctl.importing.platforms.any_csv import table
from reviewsctl.importing.platforms.columns import dates_of, platform_dates
from reviewsctl.importing.platforms.layout import Layout
from reviewsctl.importing.ratings import Scale, StarRating, recommends, stars
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import AMERICAN, Reading
from reviewsctl.importing.values import members, within, word

_YOTPO, _JUDGEME, _STAMPED = "yotpo", "judge.me", "stamped"
_STAMPED_DATES = ("dateCreated", "reviewDate")
_STAMPED_REPLY_DATES = ("reviewReplyDate", "dateReplied")
_BUYER = "2"  # Stamped's reviewVerifiedType: 0 is an unknown author, 1 a confirmed address


def _yotpo_author(fields: Fields, _head: Head) -> object:
    name = within(fields, "user", "display_name")
    return fields.get("name") if name is None else name


def _yotpo_verified(fields: Fields, _head: Head) -> object:
    is_buyer = fields.get("verified_buyer")
    return fields.get("reviewer_type") if is_buyer is None else is_buyer


def _stamped_dates(head: Head, settings: Settings) -> Reading:
    return platform_dates(
        *(head, settings, _STAMPED_DATES, _STAMPED_REPLY_DATES),
        zone=settings.timezone,
        native=AMERICAN,
    )


def _stamped_verified(fields: Fields, _head: Head) -> object:
    kind = word(fields.get("reviewVerifiedType"))
    return None if kind is None else kind == _BUYER


def _podium_source(fields: Fields) -> str:
    site = word(members(fields.get("review")).get("siteName"))
    if site is None:
        raise RowRefusedError("no review.siteName")
    return site.lower()


def _podium_key(fields: Fields, _head: Head) -> object:
    return word(members(fields.get("review")).get("siteReviewId")) or fields.get("uid")


def _podium_notes(fields: Fields) -> tuple[str, ...]:
    review = members(fields.get("review"))
    is_recommendation = fields.get("isRecommendation", review.get("isRecommendation"))
    return ("recommendation",) if is_recommendation is True else ()


def _first_of(value: object) -> dict[str, object]:
    """Return the first object of a list; an empty one if there is none."""
    return members(value[0]) if isinstance(value, list) and value else {}


def _podium_place(fields: Fields, _head: Head) -> object:
    return _first_of(fields.get("locations")).get("uid") or fields.get("locationUid")


def _flatten_response(fields: Fields) -> Fields:
    """Return a row of Podium with the first of its responses as ``response``."""
    response = _first_of(fields.get("responses"))
    replied_at = response.get("createdAt") or response.get("publishDate")
    return {**fields, "response": {"body": response.get("body"), "createdAt": replied_at}}


def _birdeye_source(fields: Fields) -> str:
    site = word(fields.get("sourceType"))
    if site is None:
        raise RowRefusedError("no sourceType")
    return site.lower().replace(" ", "-")


def _birdeye_author(fields: Fields, _head: Head) -> object:
    names = (within(fields, "reviewer", name) for name in ("firstName", "lastName"))
    nick = word(within(fields, "reviewer", "nickName"))
    return nick or " ".join(filter(None, map(word, names)))


def _birdeye_rating(fields: Fields, scale: Scale) -> StarRating:
    rating = fields.get("rating")
    positive = recommends(rating)
    if positive is None and word(rating) in (None, "0"):
        positive = recommends(fields.get("recommendationType"))
    return StarRating(stars(rating)) if positive is None else scale.recommendation(positive)


YOTPO_API = Format(
    name="yotpo",
    title="Yotpo API, reviews",
    leaves="products, votes, e-mail addresses, what is not published",
    likeness=Signature(
        ("score", "content", "created_at", "verified_buyer|reviewer_type"), shape="json"
    ),
    parser=Layout(
        source=_YOTPO,
        key="id",
        author=_yotpo_author,
        rating="score",
        created="created_at",
        title="title",
        text="content",
        reply="comment.content",
        replied="comment.created_at",
        verified=_yotpo_verified,
    ).parser,
    verification="verified_buyer, reviewer_type",
)
YOTPO_CSV = table(
    "yotpo-csv",
    "Yotpo, export of reviews",
    source=_YOTPO,
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
    parser=Layout(
        source=_JUDGEME,
        key="id",
        author="reviewer.name",
        created="created_at",
        title="title",
        text="body",
        verified="verified",
    ).parser,
    verification="verified, where it is buyer",
)
JUDGEME_CSV = table(
    "judgeme-csv",
    "Judge.me, export of reviews",
    source=_JUDGEME,
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
    parser=Layout(
        source=_STAMPED,
        key="id",
        author="author",
        avatar="avatar",
        rating="reviewRating",
        created="|".join(_STAMPED_DATES),
        dates=_stamped_dates,
        title="reviewTitle",
        text="reviewMessage",
        reply="reviewReply",
        replied="|".join(_STAMPED_REPLY_DATES),
        verified=_stamped_verified,
    ).parser,
    verification="reviewVerifiedType, where it is 2 (a buyer)",
)
PODIUM = Format(
    name="podium",
    title="Podium API, reviews",
    leaves="attributions to employees, all responses but the first",
    likeness=Signature(("uid", "author", "review", "createdAt"), shape="json"),
    parser=Layout(
        source=_podium_source,
        prepared=_flatten_response,
        key=_podium_key,
        author="author.name",
        rating="review.rating",
        created="createdAt",
        text="review.body",
        url="review.url",
        reply="response.body",
        replied="response.createdAt",
        place=_podium_place,
        notes=_podium_notes,
    ).parser,
    verification="false: Podium does not say whether the site checked the author",
)
BIRDEYE = Format(
    name="birdeye",
    title="Birdeye API, reviews of several sites",
    leaves="e-mail addresses, tags, tickets",
    likeness=Signature(
        ("reviewId", "reviewDate", "comments|rating", "sourceType", "reviewer"), shape="json"
    ),
    parser=Layout(
        source=_birdeye_source,
        key="reviewId",
        author=_birdeye_author,
        avatar="reviewer.thumbnailUrl",
        rating=_birdeye_rating,
        created="reviewDate",
        dates=lambda head, settings: dates_of(head.sample, settings, "reviewDate")[0],
        title="title",
        text="comments",
        url="uniqueReviewUrl",
        reply="response",
        replied="responseDate",
        reply_dates=lambda head, settings: dates_of(head.sample, settings, "responseDate")[0],
        place="businessId",
        place_title="businessName",
    ).parser,
    verification="false: Birdeye does not say whether the site checked the author",
)
