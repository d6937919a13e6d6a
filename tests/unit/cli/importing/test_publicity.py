"""Reviews that a platform or shop withholds, has deleted or calls spam are not published; an unknown status is
a question."""

import datetime
import json
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError, RowWithdrawnError, SayMoreError
from reviewsctl.importing.publicity.judge import Publicity
from reviewsctl.importing.publicity.signs import Sense, Subject, is_withheld_name, sign_of
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.settings import Settings
from tests.support.sheets import spreadsheet
from tests.support.shop import Shop

Answer = bool | None
"""Whether a review is public; None for a question."""

PUBLIC, WITHHELD, ASKED = True, False, None


def judged(
    row: Mapping[str, object],
    platform: str = "csv",
    answers: Mapping[str, Collection[str]] | None = None,
) -> Answer:
    """Return whether the review of a row is public."""
    publicity = Publicity(answers)
    try:
        verdict = publicity.judging(platform)(row)
    except RowWithdrawnError:
        return WITHHELD
    publicity.note(verdict, has_reply=True)
    try:
        publicity.settle()
    except SayMoreError:
        return ASKED
    return PUBLIC


VALUES: dict[str, dict[Answer, list[object]]] = {
    "status": {
        PUBLIC: ["published", "Approved", "LIVE", "active", "veröffentlicht", "Publié", "replied"],
        WITHHELD: ["pending", "SPAM", "QUARANTINED", "REJECTED", "awaiting", "trash", "post-trashed",
                   "hold", "Entwurf", "en attente", "borrador", "In attesa", "rascunho", "concept"],
        ASKED: ["1", 1, 0, True, "TRUE", "shipped", "closed", "", None, 2],
    },
    "comment_approved": {
        PUBLIC: ["1", 1, 1.0, "approve", "approved"][:3],
        WITHHELD: ["0", 0, "spam", "trash", "post-trashed", "hold"],
        ASKED: ["", "2", None, "maybe"],
    },
    "approved": {
        PUBLIC: [True, "yes", "TRUE", "✓", "x", "Ja", "oui", "2025-03-14 10:00"],
        WITHHELD: [False, "no", "0", "nein", "✗", "pending"],
        ASKED: ["", None, "perhaps"],
    },
    "is_spam": {PUBLIC: [False, 0, "0", "", None, "no"], WITHHELD: [True, 1, "1", "yes"], ASKED: ["0.7"]},
    "hidden": {PUBLIC: ["", "FALSE", "NULL"], WITHHELD: ["TRUE", "1", "x"], ASKED: ["by Bob"]},
    "deletedAt": {
        PUBLIC: ["", None, "\\N", "0000-00-00 00:00:00", "NULL"],
        WITHHELD: ["2025-03-14", 1741948200, "14.03.2025", "yesterday"],
    },
    "published_at": {PUBLIC: ["2025-03-14"], WITHHELD: ["", None]},
    "rejection reason": {PUBLIC: ["", "none"], WITHHELD: ["profanity"]},
    "Moderation reason": {PUBLIC: [""], ASKED: ["profanity"]},
    "reported": {PUBLIC: ["", False, "0"], ASKED: [True, "yes"]},
    "visibility": {PUBLIC: ["public"], WITHHELD: ["private", "hidden"], ASKED: ["friends", ""]},
    "type": {PUBLIC: ["guest-to-host", "google", ""], WITHHELD: ["host-to-guest", "order_note"]},
    "Not approved": {PUBLIC: ["no"], WITHHELD: ["yes"]},
    "Nicht freigegeben": {PUBLIC: ["nein"], WITHHELD: ["ja"]},
    "unpublished": {PUBLIC: [False], WITHHELD: [True]},
    "status.name": {PUBLIC: ["Live"], WITHHELD: ["Spam"], ASKED: ["Odd"]},
    "hidden.value": {PUBLIC: [False], WITHHELD: [True]},
    "Status name": {PUBLIC: ["Live"], WITHHELD: ["Spam"], ASKED: ["Odd"]},
    "item.status": {WITHHELD: ["spam"]},
    "post_status": {PUBLIC: ["publish"], WITHHELD: ["future", "auto-draft", "private"]},
    "is_pub": {WITHHELD: ["0"]},
    "Public (Y/N)": {PUBLIC: ["Y"], WITHHELD: ["N"]},
    "Approved Y/N": {PUBLIC: ["Y"], WITHHELD: ["N"]},
    "Consent": {PUBLIC: ["yes"], WITHHELD: ["no"]},
    "Fake": {PUBLIC: ["no"], WITHHELD: ["yes"]},
    "Reason held": {PUBLIC: [""], WITHHELD: ["language"]},
    "Internal only": {PUBLIC: ["no"], WITHHELD: ["yes"]},
    "Ne pas publier": {PUBLIC: [""], WITHHELD: ["oui", "x"]},
    "À valider": {PUBLIC: ["non"], ASKED: ["oui"]},
    "Da approvare": {PUBLIC: ["no"], ASKED: ["sì", "x"]},
    "Por aprobar": {PUBLIC: ["no"], ASKED: ["sí"]},
    "To be approved": {PUBLIC: [False], ASKED: [True]},
    "Duplicate": {PUBLIC: [""], WITHHELD: ["yes"]},
    "Dispute": {PUBLIC: ["no"], ASKED: ["yes"]},
    "Nicht anzeigen": {PUBLIC: [""], WITHHELD: ["ja"]},
    "Do not publish": {PUBLIC: [""], WITHHELD: ["x"]},
    "moderations": {ASKED: [[{"status": "rejected"}]], PUBLIC: []},
    "replies": {PUBLIC: [[], [{"body": "Hi", "status": "live"}]], ASKED: [[{"status": "odd"}]]},
    "status (2)": {WITHHELD: ["hidden"]},
    "May we publish your review on our website?": {PUBLIC: ["Yes"], WITHHELD: ["No"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        (name, value, answer)
        for name, answers in VALUES.items()
        for answer, values in answers.items()
        for value in values
    ],
)
def test_value_of_a_sign_is_public_or_withheld_or_a_question(
    name: str, value: object, answer: Answer
) -> None:
    assert answer is judged({name: value})


@pytest.mark.parametrize(
    "name",
    [
        *("Show name?", "Show reviewer name", "Afficher le nom", "Mostrar nombre", "Toon naam"),
        *(
            "Name nennen",
            "Namen nennen?",
            "Name zeigen",
            "Nom afficher",
            "Citer le nom",
            "Naam tonen",
        ),
        *("Mencionar nombre", "Citare il nome", "Mostrar nome", "Name ok"),
    ],
)
def test_column_may_say_that_the_name_is_not_shown(name: str) -> None:
    sign = sign_of(name)
    assert sign is not None
    assert (Subject.NAME, False) == (sign.subject, sign.reads("no"))


SENSES = """
PUBLIC: Freigabe, Sichtbar, Aprobado, Pubblicato, Goedgekeurd
PUBLIC: attributes.published, Published on website
PUBLIC: Consent, Permission, GDPR, Website ok, Okay, Agreed to publication, Customer consent, Allowed
PUBLIC: Einverständnis, Einverstanden, Zustimmung, Zustimmung Website, Erlaubnis, DSGVO, Einverständnis Kunde
PUBLIC: Darf auf die Website, Darf ins Internet, Homepage ok, Einwilligung, DSGVO ok, Erlaubt
PUBLIC: Consentement, Accord, D'accord, Autorisation, RGPD, Accord du client, Site ok
PUBLIC: Consentimiento, Permiso, De acuerdo, Autorización, Permiso del cliente
PUBLIC: Consenso, Permesso, Accordo, Autorizzazione, Consenso cliente
PUBLIC: Consentimento, Permissão, Acordo, Autorização, LGPD
PUBLIC: Toestemming, Akkoord, Toestemming klant, Instemming, Website oké
WITHHELD: Ausgeblendet, Gelöscht am, Supprimé le, Eliminado, Nascosto, Excluído, Verwijderd
WITHHELD: hidden_by_owner, is test
STATUS: Statut, Estado, ModerationStatus, review.state
"""
SIGNS = [line.split(": ") for line in SENSES.strip().splitlines()]


@pytest.mark.parametrize(
    ("name", "sense"),
    [(name, Sense[sense]) for sense, names in SIGNS for name in names.split(", ")],
)
def test_sign_is_recognized_in_seven_languages(name: str, sense: Sense) -> None:
    sign = sign_of(name)
    assert sign is not None
    assert (sense, Subject.REVIEW) == (sign.sense, sign.subject)


NO_SIGNS = """
rating, text, name, displayName, publisherId, product status, order.status, location.state
author.deleted, customer active, flagContentUri, Ordered online, publicReview, Private Feedback
status changed at, source, verified, isVerified, Display Name, response time, product.visible
reviewer_type, stateProvince, reviewer.isLocalGuide, likes, Active listening, Verification status
spam score, removed count, isAdvertisement, photos.status, publishedPlatform, item_status
Marketing consent, Newsletter consent, Terms accepted, has_published_pictures
product.status.name, displayOrder
"""


@pytest.mark.parametrize("name", NO_SIGNS.strip().replace("\n", ", ").split(", "))
def test_other_members_are_no_signs(name: str) -> None:
    assert sign_of(name) is None


@pytest.mark.parametrize(
    ("platform", "row", "answer"),
    [
        ("trustpilot-api", {"status": "active"}, PUBLIC),
        ("trustpilot-api", {"status": "reported"}, WITHHELD),
        ("trustpilot-api", {"status": "new word of theirs"}, WITHHELD),
        ("judgeme", {"published": True, "hidden": False, "curated": "ok"}, PUBLIC),
        ("judgeme", {"published": True, "hidden": False, "curated": "not-yet"}, WITHHELD),
        ("judgeme", {"published": False}, WITHHELD),
        ("judgeme-csv", {"curated": "spam"}, WITHHELD),
        ("yotpo", {"deleted": False, "archived": True}, WITHHELD),
        ("yotpo-csv", {"Review Status": "Rejected"}, WITHHELD),
        ("stamped", {"reviewState": "archived"}, WITHHELD),
        ("json", {"status": "QUARANTINED", "publisherId": "FIRSTPARTY"}, WITHHELD),  # Yext
        ("json", {"ModerationStatus": "REJECTED"}, WITHHELD),  # Bazaarvoice
        ("json", {"type": "host-to-guest", "status": "published"}, WITHHELD),  # Hostaway
        ("json", {"type": "guest-to-host", "status": "awaiting"}, WITHHELD),
        ("json", {"type": "guest-to-host", "status": "published"}, PUBLIC),
        ("csv", {"comment_approved": "1", "comment_type": "review"}, PUBLIC),  # WooCommerce
        ("csv", {"comment_approved": "1", "comment_type": "order_note"}, WITHHELD),
        ("csv", {"state": "unpublished"}, WITHHELD),  # Shopify Product Reviews
        ("json", {"id_product_comment": 1, "validate": "0", "deleted": "0"}, WITHHELD),  # PrestaShop
        ("json", {"attributes": {"publishedAt": None}}, WITHHELD),  # Strapi
        ("apify", {"isAdvertisement": True, "publishAt": "3 weeks ago"}, PUBLIC),
        ("reviewsd", {"id": "a", "approved": False}, WITHHELD),
        ("json", {"status": {"id": 1, "name": "Published"}}, PUBLIC),
        ("json", {"status": {"id": 2, "name": "Pending"}}, WITHHELD),
        ("json", {"hidden": {"by": "admin", "at": "2025-01-01"}}, WITHHELD),
        ("json", {"hidden": {"by": None, "at": None}}, PUBLIC),
        ("json", {"moderation": {"decision": "reject"}}, WITHHELD),
        ("json", {"moderation": {"score": 0.9}}, ASKED),
        ("json", {"moderation": {}}, ASKED),
        ("json", {"deletion": {"who": "admin"}}, ASKED),
        ("outscraper", {"state": "New York"}, PUBLIC),
        ("apify-tripadvisor", {"publishedPlatform": "MOBILE", "publishedDate": "2025-03-14"}, PUBLIC),
        ("podium", {"responses": [{"body": "Hi", "publishDate": None}]}, PUBLIC),
    ],
)  # fmt: skip
def test_platform_says_what_is_public(
    platform: str, row: Mapping[str, object], answer: Answer
) -> None:
    assert answer is judged(row, platform)


def test_operator_names_the_values_that_are_public() -> None:
    """Known values stay known: one answer does not leave out all the others."""
    answers = {"Review state": ["featured", ""]}
    values = ("featured", "FEATURED ", "", "live", "hidden", "else")

    assert [PUBLIC, PUBLIC, PUBLIC, PUBLIC, WITHHELD, WITHHELD] == [
        judged({"review_state": value}, answers=answers) for value in values
    ]
    assert PUBLIC is judged({"state": "NH"}, answers={"state": "*"})
    assert PUBLIC is judged({"Web": "ja"}, answers={"web": ["ja"]}), (
        "a column that is no sign by its name"
    )
    assert ASKED is judged({"state": "NH"}, answers={"status": "*"}), "there is no such column"


LISTED = {
    WITHHELD: ["Spam", "pending_reviews", "Hidden", "deleted.json", "Entwürfe", "archivedReviews"],
    PUBLIC: ["reviews", "Archive 2023", "published", "2024"],
}


@pytest.mark.parametrize(
    ("name", "is_public"), [(name, public) for public, names in LISTED.items() for name in names]
)
def test_list_is_withheld_by_its_name(name: str, is_public: bool) -> None:
    assert is_public is not is_withheld_name(name)


@given(st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()))
def test_any_member_has_an_answer(name: str, value: object) -> None:
    assert judged({name: value}) in (PUBLIC, WITHHELD, ASKED)


# The whole import


def imported(
    folder: Path, name: str, content: str | bytes, **answers: Any
) -> tuple[ImportResult, list[dict[str, object]]]:
    """Import a file into its folder; return the outcome and the reviews."""
    export = folder / name
    export.write_bytes(content.encode() if isinstance(content, str) else content)
    settings = Settings(
        verified=False,
        scale=Scale(best=5 if name.endswith(("csv", "xlsx")) else None),
        columns=answers.get("mapped", {}),
        publicity=Publicity(answers.get("public")),
        name="Acme",
    )
    shop = Shop(folder, now=datetime.datetime.now(datetime.UTC))
    outcome = shop.imported(export, settings=settings)
    answers.get("lines", []).extend(shop.lines)
    return outcome, shop.file["reviews"]


def texts(reviews: list[dict[str, object]]) -> list[object]:
    return [review["text"] for review in reviews]


SHOP = """rating,date,author,text,status
5,2025-03-14,Ann,Good.,approved
4,2025-03-15,Bob,Held.,hold
3,2025-03-16,Cid,Odd.,{status}
"""


def test_status_that_is_not_understood_stops_the_import(tmp_path: Path) -> None:
    """It was published, with a note."""
    with pytest.raises(SayMoreError) as caught:
        imported(tmp_path, "shop.csv", SHOP.format(status="featured"))
    answered, reviews = imported(
        tmp_path, "shop.csv", SHOP.format(status="featured"), public={"Status": ["featured"]}
    )

    assert (
        'column "status" may say whether a review is public, and its values are not '
        'all known: "featured" (1)' == caught.value.detail
    )
    assert "as in --set public=status=featured; " in caught.value.remedy
    assert "--set 'public=status=*'" in caught.value.remedy
    assert ["Good.", "Odd."] == texts(reviews)
    assert {'not public (column "status")': 1} == answered.rows.skipped


def test_row_that_is_refused_asks_no_question(tmp_path: Path) -> None:
    _, reviews = imported(
        tmp_path, "x.csv", "Stars,Published,Name\n5,2025-03-14,Ann\n4,,Bob\n", mapped={"text": ""}
    )
    assert ["Ann"] == [review["author"] for review in reviews]


def test_status_that_is_mapped_to_no_column_still_withholds(tmp_path: Path) -> None:
    """It took all rows, spam as well."""
    export = SHOP.format(status="spam")
    outcome, [review] = imported(tmp_path, "shop.csv", export, mapped={"status": ""})
    assert "Ann" == review["author"]
    assert '2 skipped: not public (column "status")' in outcome.notes


def test_column_is_a_status_where_the_operator_says_so(tmp_path: Path) -> None:
    export = "rating,date,author,text,Web\n5,2025-03-14,A,Good.,live\n5,2025-03-14,B,No.,hidden\n"
    _, reviews = imported(tmp_path, "x.csv", export, mapped={"status": "web"})
    assert ["Good."] == texts(reviews)


def google(**members: object) -> str:
    review = {
        "name": "accounts/1/locations/2/reviews/x",
        "reviewId": "x",
        "reviewer": {"displayName": "Jane"},
        "starRating": "FIVE",
        "createTime": "2025-01-01T00:00:00Z",
        "comment": "Good.",
    }
    return json.dumps({"reviews": [review | members], "totalReviewCount": 1})


@pytest.mark.parametrize(
    ("members", "is_public"),
    [
        ({"reviewReply": {"comment": "Hi", "updateTime": "2025-01-02T00:00:00Z"}}, True),
        ({"reviewReply": {"comment": "Hi", "reviewReplyState": "APPROVED"}}, True),
        ({"reviewReply": {"comment": "Hi", "reviewReplyState": "PENDING"}}, False),
        ({"reviewReply": {"comment": "Hi", "reviewReplyState": "REJECTED"}}, False),
        ({"reviewReply": {"comment": "Hi", "state": "PENDING"}}, False),
        ({"reviewReply": {"comment": "Hi"}, "reviewReplyState": "REJECTED"}, False),
        ({"reviewReply": {"comment": "Hi", "reviewReplyState": "NEW_STATE"}}, False),
    ],
)
def test_only_an_approved_reply_of_google_is_published(
    tmp_path: Path, members: dict[str, object], is_public: bool
) -> None:
    """The review stays."""
    _, [review] = imported(tmp_path, "google.json", google(**members))
    assert "Good." == review["text"]
    assert is_public is (review["owner_reply"] is not None)


@pytest.mark.parametrize(
    ("columns", "cells"),
    [("Reply status", "pending"), ("response_published", "no"), ("Antwort freigegeben", "nein")],
)
def test_reply_that_is_not_public_is_left_out(tmp_path: Path, columns: str, cells: str) -> None:
    export = f"rating,date,author,text,reply,{columns}\n5,2025-03-14,Ann,Good.,Hi,{cells}\n"
    outcome, [review] = imported(tmp_path, "x.csv", export)
    assert ("Good.", None) == (review["text"], review["owner_reply"])
    assert "owner replies that are not public: 1; they were left out" in outcome.notes


@pytest.mark.parametrize(
    ("later", "reply"),
    [
        (
            {"body": "Thanks", "isDeleted": False},
            {"text": "Thanks", "date": "2025-03-15"},
        ),
        ({"body": "Draft", "status": "draft"}, None),
        ({"body": "Secret", "isPublic": False}, None),
    ],
)
def test_first_response_that_is_public_is_the_reply(
    tmp_path: Path, later: dict[str, object], reply: object
) -> None:
    """A private one was published: the deleted one before it was judged, and the other one taken."""
    replied = {"createdAt": "2025-03-15T10:00:00Z"}
    item: dict[str, object] = {"uid": "1", "author": {"name": "Jane"}}
    item["createdAt"], item["review"] = (
        "2025-03-14T10:00:00Z",
        {"rating": 5, "siteName": "Google", "body": "Good."},
    )
    item["responses"] = [{"body": "Oops", "isDeleted": True} | replied, later | replied]
    _, [review] = imported(tmp_path, "podium.json", json.dumps([item]))
    assert reply == review["owner_reply"]


@pytest.mark.parametrize(
    "column", ["is_anonymous", "Anonym", "hide_name", "author hidden", "reviewer.isAnonymous"]
)
def test_author_without_a_public_name_is_anonymous(tmp_path: Path, column: str) -> None:
    export = f"rating,date,author,text,{column}\n5,2025-03-14,Ann Bee,Good.,yes\n4,2025-03-15,Bob,Ok.,no\n"
    _, reviews = imported(tmp_path, "x.csv", export)
    assert ["Anonymous", "Bob"] == [review["author"] for review in reviews]


def test_member_of_a_zip_that_is_called_spam_is_left_alone(tmp_path: Path) -> None:
    table = "rating,date,author,text\n5,2025-03-14,Ann,{}\n"
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        archive.writestr("export/reviews.csv", table.format("Good."))
        archive.writestr("export/spam.csv", table.format("Bad."))
    _, reviews = imported(tmp_path, "x.zip", (tmp_path / "made.zip").read_bytes())
    assert ["Good."] == texts(reviews)


def test_sheet_that_is_called_hidden_is_not_read(tmp_path: Path) -> None:
    """Sheets with the same columns are one table, as for each year."""
    (tmp_path / "t.csv").write_text("rating,date,author,text\n5,2025-03-14,Ann,Good.\n")
    (tmp_path / "h.csv").write_text("rating,date,author,text\n5,2025-03-14,Bob,Bad.\n")
    both = spreadsheet(tmp_path / "t.csv", tmp_path / "b.xlsx", Hidden=tmp_path / "h.csv")
    lines: list[str] = []
    _, reviews = imported(tmp_path, "x.xlsx", both.read_bytes(), lines=lines)
    assert ["Good."] == texts(reviews)
    assert 'not read: x.xlsx: sheet "Hidden" (by its name not public)' in lines


def test_private_feedback_is_never_the_text(tmp_path: Path) -> None:
    """It was proposed where there is no other."""
    export = (
        "Stars,Date,Name,Private feedback\n5,2025-03-14,Ann,The tap in the bathroom drips a lot.\n"
    )
    _, [review] = imported(tmp_path, "x.csv", export)
    assert review["text"] is None


def item(text: str) -> dict[str, object]:
    return {"starRating": 5, "createdAt": "2025-03-14", "authorName": "Ann", "text": text}


OURS = {"id": "a", "author": "Ann", "rating": 5, "date": "2025-03-14", "source": "shop"}
DATED = {"_id": {"$oid": "1"}, "stars": 5, "createdAt": {"$date": "2025-03-14T10:00:00Z"}}
GOOD, BAD = item("Good."), item("Bad.")
LISTS: dict[str, object] = {
    "by their names": {"approved": [GOOD], "pending": [BAD], "spam": [BAD]},
    "within an object": {"data": {"reviews": [GOOD], "hiddenReviews": [BAD]}},
    "by a member beside them": [
        {"status": "approved", "reviews": [GOOD]},
        {"status": "spam", "reviews": [BAD]},
    ],
    "by objects within": {
        "items": [GOOD | {"review": {"state": "live"}}, BAD | {"meta": {"hidden": 1}}]
    },
    "of our own shape": [
        OURS | {"verified": True, "approved": True, "text": "Good."},
        OURS | {"verified": True, "approved": False, "text": "Bad.", "id": "b"},
    ],
    "of MongoDB": [
        DATED | {"isApproved": True, "text": "Good."},
        DATED | {"isApproved": False, "text": "Bad."},
    ],
}


@pytest.mark.parametrize("case", LISTS)
def test_reviews_of_json_are_read_only_if_they_are_public(tmp_path: Path, case: str) -> None:
    _, reviews = imported(tmp_path, "x.json", json.dumps(LISTS[case]))
    assert ["Good."] == texts(reviews)


def test_document_with_nothing_but_spam_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ImportRefusedError, match='list "spam" is called after reviews that are held'
    ):
        imported(tmp_path, "x.json", json.dumps({"spam": [item("Bad.")]}))


def test_state_beside_a_city_is_of_a_country_unless_it_says_spam(tmp_path: Path) -> None:
    export = "rating,date,author,text,city,state\n5,2025-03-14,Ann,Good.,Dover,{}\n"
    _, [review] = imported(tmp_path, "x.csv", export.format("NH"))
    (tmp_path / "reviews.json").unlink()
    _, spam = imported(tmp_path, "x.csv", export.format("spam"))
    assert ("Good.", []) == (review["text"], spam)


def test_column_is_a_status_by_its_values(tmp_path: Path) -> None:
    """Whatever it is called, and in whatever language."""
    export = "rating,date,author,text,Stan\n5,2025-03-14,Ann,Good.,public\n5,2025-03-14,Bob,No.,private\n"
    with pytest.raises(SayMoreError, match='column "Stan" may say whether a review is public'):
        imported(tmp_path, "x.csv", export)
    _, some = imported(tmp_path, "x.csv", export, public={"stan": ["public"]})
    (tmp_path / "reviews.json").unlink()
    _, both = imported(tmp_path, "x.csv", export, public={"stan": ["*"]})
    assert (["Good."], ["Good.", "No."]) == (texts(some), texts(both))


FLAGS = "rating;date;author;text;{}\n5;2025-03-14;Ann;Good.;ja\n1;2025-03-15;Bob;No.;nein\n"


@pytest.mark.parametrize("name", ["Einverständnis", "DSGVO", "Website ok"])
def test_review_of_a_customer_without_consent_is_left_out(tmp_path: Path, name: str) -> None:
    _, reviews = imported(tmp_path, "x.csv", FLAGS.format(name))
    assert ["Good."] == texts(reviews)


@pytest.mark.parametrize("name", ["Website", "Referenz", "Weitergabe", "AVG", "Darf online gehen"])
def test_column_of_yes_and_no_is_a_question(tmp_path: Path, name: str) -> None:
    """A customer may have said no in it; a column with nothing but yes holds nobody back."""
    export = FLAGS.format(name)
    with pytest.raises(SayMoreError, match="may say whether a review is public") as question:
        imported(tmp_path, "x.csv", export)
    _, all_of = imported(tmp_path, "x.csv", export.replace("nein", "ja"))
    (tmp_path / "reviews.json").unlink()
    _, some = imported(tmp_path, "x.csv", export, public={name: ["ja"]})
    assert f"public={name}=ja" in str(question.value.remedy)
    assert (["Good.", "No."], ["Good."]) == (texts(all_of), texts(some))


@pytest.mark.parametrize(
    "name", ["Weiterempfehlung", "Newsletter", "Verified", "Stammkunde", "Negative review"]
)
def test_known_flag_of_another_thing_is_no_question(tmp_path: Path, name: str) -> None:
    _, reviews = imported(tmp_path, "x.csv", FLAGS.format(name))
    assert ["Good.", "No."] == [str(text).partition("\n")[0] for text in texts(reviews)]


def test_second_column_of_a_name_counts_too(tmp_path: Path) -> None:
    export = "rating,date,author,text,status,status\n5,2025-03-14,Ann,No.,spam,active\n"
    _, reviews = imported(tmp_path, "x.csv", export)
    assert [] == reviews


@pytest.mark.parametrize("column", ["Interne Notiz", "Note privée", "Comentario privado"])
def test_notes_of_the_business_are_not_offered_as_a_text(tmp_path: Path, column: str) -> None:
    export = (
        f"Stars,Date,Name,Review,{column}\n"
        "5,2025-03-14,Ann,Good.,A difficult customer who never pays in time\n"
    )
    _, [review] = imported(tmp_path, "x.csv", export)
    assert "Good." == review["text"]
