"""Both feeds against their formats, their mapping (data-model.md 4.1, 4.2) and hostile texts."""

import datetime
from dataclasses import replace
from xml.etree import ElementTree as ET

import feedparser
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reviewsd.domain.reviews import Business, OwnerReply, Review
from reviewsd.http1 import urls
from reviewsd.pages.locales import words_of_insights
from reviewsd.pages.words import english
from reviewsd.publish import atom, json_feed
from reviewsd.publish.feed import FeedEntry, FeedFrame, FeedPage, FeedWords, Label

ATOM = "{http://www.w3.org/2005/Atom}"

BUSINESS = Business(
    name="Acme Plumbing",
    description="Boilers and pipes.",
    url="https://acme.example",
    logo_url="https://acme.example/logo.png",
    language="en-GB",
)
PLAIN = Business(name="Acme Plumbing")

REVIEW = Review(
    id="01J9ZK3V5Q8R2N7M4T6W1X0YAB",
    author="Jane D.",
    author_avatar_url="https://maps.example/jane.png",
    rating=4,
    date=datetime.date(2025, 3, 14),
    text="Sam fixed the boiler in an hour.",
    source="google",
    source_url="https://maps.example/r/1",
    owner_reply=OwnerReply(text="Thank you, Jane!", date=datetime.date(2025, 3, 15)),
    verified=True,
)
SILENT = Review(
    id="01J9ZK3V5Q8R2N7M4T6W1X0YAA",
    author="Jo",
    rating=1,
    date=datetime.date(2025, 3, 1),
    source="yelp",
    verified=False,
)


def entry(review: Review) -> FeedEntry:
    return FeedEntry(review=review, technicians=(), services=())


def frame(business: Business, updated_at: str | None = None) -> FeedFrame:
    texts = words_of_insights(business).texts
    return FeedFrame(
        base_url="https://reviews.example.com",
        business=business,
        updated_at=updated_at,
        authority="reviews.example.com",
        year=2025,
        words=msgspec.convert(texts, FeedWords),
    )


def feed(
    *entries: FeedEntry, business: Business = BUSINESS, updated_at: str | None = None
) -> FeedPage:
    return FeedPage(frame=frame(business, updated_at), entries=entries)


def atom_of(page: FeedPage) -> bytes:
    return b"".join(atom.render(page))


def json_of(page: FeedPage) -> bytes:
    return b"".join(json_feed.render(page))


RICH = FeedEntry(
    review=REVIEW,
    technicians=(Label("sam", "Sam"),),
    services=(Label("boiler-repair", "Boiler repair"),),
)
FULL = feed(RICH, entry(SILENT))


# The words


def test_words_are_those_of_the_language_that_the_feed_names() -> None:
    """Under xml:lang "de-AT" it said "Salon reviews", "Rated 1 out of 5." and "Reply from Salon"."""
    business = Business(name="Salon {x}", language="de-AT")
    reply = OwnerReply(text="Danke!", date=REVIEW.date)
    silent = structs.replace(SILENT, author="Anonymous", owner_reply=reply)
    page = feed(entry(silent), business=business)
    text = atom_of(page).decode()
    for part in (
        "<title>Bewertungen für Salon {x}</title>",
        "<rights>Bewertungen © ihre Verfasser; Antworten © Salon {x}</rights>",
        "<title>★☆☆☆☆ Anonym</title>",
        "<author><name>Anonym</name></author>",
        'label="1 Stern"',
        "Mit 1 von 5 bewertet.",
        "Antwort von Salon {x}",
    ):
        assert part in text
    item = msgspec.json.decode(json_of(page))["items"][0]
    assert ("★☆☆☆☆ Anonym", "Anonym") == (item["title"], item["authors"][0]["name"])
    assert "Antwort von Salon {x}: Danke!" in item["content_text"]


def test_words_of_a_snapshot_without_any_are_english() -> None:
    assert FeedWords() == msgspec.convert(english(), FeedWords)


# The bytes


def test_the_atom_feed_byte_for_byte() -> None:
    """Deterministic: a push is only due when the data say something new."""
    expected = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en-GB">'
        "<id>tag:reviews.example.com,2025:reviews</id>"
        "<title>Acme Plumbing reviews</title>"
        "<updated>2025-03-15T12:00:00Z</updated>"
        "<author><name>Acme Plumbing</name></author>"
        '<link rel="self" type="application/atom+xml" href="https://reviews.example.com/feed.xml" />'
        '<link rel="hub" href="https://reviews.example.com/api/websub/hub" />'
        '<link rel="alternate" type="text/html" href="https://reviews.example.com/" />'
        "<generator>reviewsd</generator>"
        "<icon>https://acme.example/logo.png</icon>"
        "<logo>https://acme.example/logo.png</logo>"
        "<rights>Reviews © their authors; replies © Acme Plumbing</rights>"
        "<entry>"
        "<id>tag:reviews.example.com,2025:review:01J9ZK3V5Q8R2N7M4T6W1X0YAB</id>"
        "<title>★★★★☆ Jane D.</title>"
        "<published>2025-03-14T12:00:00Z</published>"
        "<updated>2025-03-15T12:00:00Z</updated>"
        "<author><name>Jane D.</name></author>"
        '<link rel="alternate" type="text/html" '
        'href="https://reviews.example.com/r/01J9ZK3V5Q8R2N7M4T6W1X0YAB" />'
        '<link rel="via" href="https://maps.example/r/1" />'
        '<category term="4-star" scheme="tag:reviews.example.com,2025:rating" label="4 stars" />'
        '<category term="sam" scheme="tag:reviews.example.com,2025:technician" label="Sam" />'
        '<category term="boiler-repair" scheme="tag:reviews.example.com,2025:service" '
        'label="Boiler repair" />'
        '<content type="html">&lt;p&gt;Sam fixed the boiler in an hour.&lt;/p&gt;'
        "&lt;blockquote&gt;&lt;p&gt;&lt;strong&gt;Reply from Acme Plumbing&lt;/strong&gt;&lt;/p&gt;"
        "&lt;p&gt;Thank you, Jane!&lt;/p&gt;&lt;/blockquote&gt;</content>"
        "</entry>"
        "<entry>"
        "<id>tag:reviews.example.com,2025:review:01J9ZK3V5Q8R2N7M4T6W1X0YAA</id>"
        "<title>★☆☆☆☆ Jo</title>"
        "<published>2025-03-01T12:00:00Z</published>"
        "<updated>2025-03-01T12:00:00Z</updated>"
        "<author><name>Jo</name></author>"
        '<link rel="alternate" type="text/html" '
        'href="https://reviews.example.com/r/01J9ZK3V5Q8R2N7M4T6W1X0YAA" />'
        '<category term="1-star" scheme="tag:reviews.example.com,2025:rating" label="1 star" />'
        '<content type="html">&lt;p&gt;Rated 1 out of 5.&lt;/p&gt;</content>'
        "</entry>"
        "</feed>"
    )

    assert expected == atom_of(FULL).decode()


def test_the_json_feed_byte_for_byte() -> None:
    expected = (
        '{"version":"https://jsonfeed.org/version/1.1",'
        '"title":"Acme Plumbing reviews",'
        '"home_page_url":"https://reviews.example.com/",'
        '"feed_url":"https://reviews.example.com/api/feed.json",'
        '"description":"Boilers and pipes.",'
        '"icon":"https://acme.example/logo.png",'
        '"favicon":"https://acme.example/logo.png",'
        '"authors":[{"name":"Acme Plumbing","url":"https://acme.example",'
        '"avatar":"https://acme.example/logo.png"}],'
        '"language":"en-GB",'
        '"hubs":[{"type":"WebSub","url":"https://reviews.example.com/api/websub/hub"}],'
        '"items":['
        '{"id":"01J9ZK3V5Q8R2N7M4T6W1X0YAB",'
        '"url":"https://reviews.example.com/r/01J9ZK3V5Q8R2N7M4T6W1X0YAB",'
        '"external_url":"https://maps.example/r/1",'
        '"title":"★★★★☆ Jane D.",'
        '"content_html":"<p>Sam fixed the boiler in an hour.</p><blockquote><p><strong>'
        'Reply from Acme Plumbing</strong></p><p>Thank you, Jane!</p></blockquote>",'
        '"content_text":"Sam fixed the boiler in an hour.\\n\\n'
        'Reply from Acme Plumbing: Thank you, Jane!",'
        '"date_published":"2025-03-14T12:00:00Z",'
        '"date_modified":"2025-03-15T12:00:00Z",'
        '"authors":[{"name":"Jane D.","avatar":"https://maps.example/jane.png"}],'
        '"tags":["4-star","Sam","Boiler repair"],'
        '"_review":{"about":"https://reviews.example.com/developers/data-model/reviews",'
        '"rating":4,"verified":true,"source":"google",'
        '"owner_reply":{"text":"Thank you, Jane!","date":"2025-03-15"}}},'
        '{"id":"01J9ZK3V5Q8R2N7M4T6W1X0YAA",'
        '"url":"https://reviews.example.com/r/01J9ZK3V5Q8R2N7M4T6W1X0YAA",'
        '"title":"★☆☆☆☆ Jo",'
        '"content_html":"<p>Rated 1 out of 5.</p>",'
        '"content_text":"Rated 1 out of 5.",'
        '"date_published":"2025-03-01T12:00:00Z",'
        '"authors":[{"name":"Jo"}],'
        '"tags":["1-star"],'
        '"_review":{"about":"https://reviews.example.com/developers/data-model/reviews",'
        '"rating":1,"verified":false,"source":"yelp","owner_reply":null}}'
        "]}"
    )

    assert expected == json_of(FULL).decode()


# The mapping


@pytest.mark.parametrize(
    ("text", "reply", "expected"),
    [
        ("One.\r\n\r\nTwo,\nand more.\n", None, "<p>One.</p><p>Two,<br>and more.</p>"),
        ("\n \t\nOne.\n \n\n\nTwo.", None, "<p>One.</p><p>Two.</p>"),
        ('<b>Great</b> & "cheap"', None, "<p>&lt;b&gt;Great&lt;/b&gt; &amp; &#34;cheap&#34;</p>"),
        ("a\x08b\u202ec", None, "<p>a\ufffdb\ufffdc</p>"),
        (None, None, "<p>Rated 4 out of 5.</p>"),
        (" \n", None, "<p>Rated 4 out of 5.</p>"),
        (
            "Good.",
            "Thanks.\n\nSam & Jo",
            (
                "<p>Good.</p><blockquote><p><strong>Reply from A &lt;&amp;&gt; B</strong></p>"
                "<p>Thanks.</p><p>Sam &amp; Jo</p></blockquote>"
            ),
        ),
    ],
)
def test_html_has_paragraphs_and_reply(text: str | None, reply: str | None, expected: str) -> None:
    """Plain text becomes one line in readers, and a reply reads as the customer's words."""
    answer = None if reply is None else OwnerReply(text=reply, date=datetime.date(2025, 3, 15))
    review = structs.replace(REVIEW, text=text, owner_reply=answer)
    assert expected == frame(Business(name="A <&> B")).html(review)


@pytest.mark.parametrize(
    ("text", "reply", "expected"),
    [
        (" Good.\n", None, " Good.\n"),
        ("", None, "Rated 4 out of 5."),
        (None, "Thanks.", "Rated 4 out of 5.\n\nReply from Acme Plumbing: Thanks."),
    ],
)
def test_the_content_is_the_text_and_the_reply(
    text: str | None, reply: str | None, expected: str
) -> None:
    answer = reply and OwnerReply(text=reply, date=datetime.date(2025, 3, 15))
    review = structs.replace(REVIEW, text=text, owner_reply=answer)
    assert expected == frame(BUSINESS).content(review)


@pytest.mark.parametrize(
    ("updated_at", "expected"),
    [("2025-06-01T04:05:06Z", "2025-06-01T04:05:06Z"), (None, "1970-01-01T00:00:00Z")],
)
def test_an_empty_atom_feed_takes_its_time_from_the_data_not_from_a_clock(
    updated_at: str | None, expected: str
) -> None:
    root = ET.fromstring(atom_of(feed(updated_at=updated_at)))
    assert expected == root.findtext(ATOM + "updated")


def test_absent_members_of_the_business_are_left_out() -> None:
    document = msgspec.json.decode(json_of(feed(business=PLAIN)))
    names = {child.tag for child in ET.fromstring(atom_of(feed(business=PLAIN)))}
    assert not {"description", "icon", "favicon"} & document.keys()
    assert document["authors"] == [{"name": "Acme Plumbing"}]
    assert not {ATOM + "icon", ATOM + "logo"} & names


def test_no_tag_comes_twice() -> None:
    twice = FeedEntry(review=SILENT, technicians=(Label("a", "AC"),), services=(Label("ac", "AC"),))
    item = msgspec.json.decode(json_of(feed(twice)))["items"][0]
    assert item["tags"] == ["1-star", "AC"]


def test_any_id_gives_valid_addresses() -> None:
    """data-model.md 1.3 lets an operator use any printable ASCII as an id."""
    odd = structs.replace(REVIEW, id='a/b?c#d%e"f<g')
    parsed = feedparser.parse(atom_of(feed(entry(odd)))).entries[0]
    item = msgspec.json.decode(json_of(feed(entry(odd))))["items"][0]
    assert parsed.id == "tag:reviews.example.com,2025:review:a/b?c%23d%25e%22f%3Cg"
    assert parsed.link == "https://reviews.example.com/r/a%2Fb%3Fc%23d%25e%22f%3Cg"
    assert item["url"] == parsed.link
    assert item["id"] == odd.id


def test_pages_lead_from_one_to_the_next() -> None:
    """RFC 5005 3 and JSON Feed 1.1, next_url; only the first page is a topic."""
    first = replace(FULL, next_cursor="two")
    second = replace(FULL, cursor="two", next_cursor="three")
    last = replace(FULL, cursor="three")
    base = "https://reviews.example.com"

    def links(page: FeedPage) -> dict[str, str]:
        result = feedparser.parse(atom_of(page)).feed
        assert "tag:reviews.example.com,2025:reviews" == result.id
        return {link.rel: link.href.removeprefix(base) for link in result.links}

    def addresses(page: FeedPage) -> tuple[str, str | None, bool]:
        result = msgspec.json.decode(json_of(page))
        return result["feed_url"], result.get("next_url"), "hubs" in result

    topic = {"self": urls.ATOM_FEED, "hub": urls.HUB, "alternate": "/"}
    other = {"first": urls.ATOM_FEED, "alternate": "/"}
    assert topic | {"next": "/feed/two.xml"} == links(first)
    assert other | {"self": "/feed/two.xml", "next": "/feed/three.xml"} == links(second)
    assert other | {"self": "/feed/three.xml"} == links(last)
    own = f"{base}/api/feed.json"
    assert (own, f"{base}/api/feed/two.json", True) == addresses(first)
    assert (own, f"{base}/api/feed/three.json", False) == addresses(second)
    assert (own, None, False) == addresses(last)


# Any text

_TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("\x00\x08\t\n\x0b\r\x1f\x7f\x85 ]>&<\"'\ufffe\uffff\ufffd\U0010ffff"),
    ),
    min_size=1,
)


def kept(text: str) -> str:
    """Replace the characters that XML 1.0 does not allow (2.2), one by one."""
    ranges = ((0x20, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))
    return "".join(
        c if c in "\t\n\r" or any(low <= ord(c) <= high for low, high in ranges) else "\ufffd"
        for c in text
    )


@given(text=_TEXTS, author=_TEXTS, label=_TEXTS, name=_TEXTS)
def test_any_text_that_xml_can_hold_survives(text: str, author: str, label: str, name: str) -> None:
    reviewed = FeedEntry(
        review=structs.replace(REVIEW, text=text, author=author, owner_reply=None),
        technicians=(Label(label, label),),
        services=(),
    )

    root = ET.fromstring(atom_of(feed(reviewed, business=Business(name=name))))
    item = root.find(ATOM + "entry")

    assert item is not None
    assert frame(BUSINESS).html(reviewed.review) == item.findtext(ATOM + "content")
    assert kept(author) == item.findtext(f"{ATOM}author/{ATOM}name")
    assert kept(f"★★★★☆ {author}") == item.findtext(ATOM + "title")
    assert kept(f"{name} reviews") == root.findtext(ATOM + "title")
    assert kept(label) == item.findall(ATOM + "category")[1].get("label")
