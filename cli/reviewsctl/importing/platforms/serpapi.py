"""SerpApi, ``engine=google_maps_reviews``: pages of JSON with the place beside the reviews."""

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.google import SOURCE, VERIFICATION
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found, RowRefusedError
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, within, word, words


def _parser(head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        site = word(review.get("source")) or SOURCE
        if site.casefold() != SOURCE:
            # hotels: Google shows reviews of other sites, without the ids they have there
            raise RowRefusedError(f"it was written on {site}, not on Google")
        parameters = members(head.around.get("search_parameters"))
        title = members(head.around.get("place_info")).get("title")
        said = within(review, "extracted_snippet", "original") or review.get("snippet")
        reply = members(review.get("response"))
        answer = within(reply, "extracted_snippet", "original") or reply.get("snippet")
        return Found(
            source=SOURCE,
            key=word(review.get("review_id")),
            author=within(review, "user", "name"),
            avatar_url=address(within(review, "user", "thumbnail")),
            rating=stars(review.get("rating")),
            created=moment(review.get("iso_date")),
            text=words(said),
            source_url=address(review.get("link")),
            reply=reply_of(words(answer), reply.get("iso_date")),
            place=rules.place(parameters.get("place_id") or parameters.get("data_id"), title),
        )

    return read


FORMAT = Format(
    name="serpapi",
    title="SerpApi, Google Maps reviews",
    leaves="translations, photos, likes, reviews of other sites",
    likeness=Signature(("iso_date", "rating", "user.name", "review_id|snippet"), shape="json"),
    parser=_parser,
    verification=VERIFICATION,
)
