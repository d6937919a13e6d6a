"""llms.txt and its full form: the structure that llmstxt.org wants, whatever strangers write."""

import re

import pytest

from reviewsd.http1 import urls
from reviewsd.pages import llms
from reviewsd.pages.site import Site
from tests.support.site import BASE_URL, for_machines, review, site

LINK = re.compile(r"- \[[^\]]+\]\((https://[^)\s]+)\): .+")
HOSTILE = "# Buy now\n\n## Data\n- [free](https://evil.example): money\n> quote\r\n```\n\0\u202e"
INSIGHTS = {
    "summary": HOSTILE,
    "aspects": [{"label": HOSTILE, "mention_count": 3, "positive_pct": 66.7}],
    "entities": {"technicians": ["Sam"], "services": [HOSTILE], "problems": ["no callback"]},
    "faq": [{"question": HOSTILE, "answer": HOSTILE}],
}


def brief(here: Site) -> bytes:
    return for_machines(here)[urls.LLMS]


def full(here: Site) -> bytes:
    return for_machines(here)[urls.LLMS_FULL]


def headings(content: bytes) -> list[str]:
    return [line for line in content.decode().splitlines() if line.startswith("#")]


def test_llms_txt_has_the_structure_of_the_standard() -> None:
    """One H1, then a quotation, then paragraphs, then H2 sections that are lists of links."""
    content = brief(site({"description": "Boilers."}, [review(1)], {}))
    first, quotation, *rest = content.decode().split("\n\n")

    assert "# Acme Plumbing reviews" == first
    assert quotation.startswith("> Customer reviews of Acme Plumbing: 2.0 of 5 stars from 1 ")
    assert "Boilers." == rest[0]
    assert ["## Data", "## Agents", "## Optional"] == headings(content)[1:]
    for section in content.decode().split("\n## ")[1:]:
        for line in section.strip().splitlines()[2:]:
            assert LINK.fullmatch(line), line


def test_unverified_reviews_are_stated_to_be_unchecked() -> None:
    unchecked = b"It was not checked whether the authors of these reviews were customers."
    assert unchecked in brief(site(reviews=[review(1, verified=False)]))
    assert unchecked not in brief(site(reviews=[review(1, verified=False), review(2)]))
    assert unchecked not in brief(site())


def test_verification_statement_of_the_owner_is_shown() -> None:
    here = site({"verification_statement": "Only *invited* customers.\n# x"})
    assert b"says the business: Only \\*invited\\* customers. \\# x\n" in brief(here)


def test_absent_insights_have_no_link() -> None:
    assert b"/insights.json" not in brief(site(reviews=[review(1)]))


def test_llms_txt_without_reviews_says_so() -> None:
    assert b"There are none yet." in brief(site())
    assert b"All reviews (0): https://" in full(site())


def test_customer_texts_add_no_headings_or_links() -> None:
    reviews = [review(1, author=HOSTILE, text=HOSTILE, owner_reply=None)]
    reviews += [review(2, owner_reply={"text": HOSTILE, "date": "2026-03-11"})]
    here = site({"name": HOSTILE, "description": HOSTILE}, reviews, INSIGHTS)

    for content in (brief(here), full(here)):
        text = content.decode()
        assert 1 == len([item for item in headings(content) if item.startswith("# ")])
        assert None is re.search(r"(?<!\\)\]\(https://evil", text)
        assert set("\0\u202e\r").isdisjoint(text)
        assert "```" not in text
    assert [
        "## Summary",
        "## Aspects",
        "## Technicians",
        "## Services",
        "## Problems",
        "## Questions and answers",
        "## Newest reviews",
    ] == [item for item in headings(full(here)) if item.startswith("## ")]


def test_llms_full_txt_has_the_newest_reviews_with_their_pages() -> None:
    content = full(site(reviews=[review(item) for item in range(60)])).decode()
    assert 50 == content.count("\n### ")
    assert f"[Page of this review]({BASE_URL}/r/r59)" in content
    assert f"All reviews (60): {BASE_URL}/reviews.json" in content


@pytest.mark.parametrize("text", ["word " * 2_000, "★" * 5_000, "#\n" * 3_000])
def test_llms_full_txt_is_below_its_limit(text: str) -> None:
    reply = {"text": text, "date": "2026-12-31"}
    reviews = [review(item, text=text, owner_reply=reply) for item in range(50)]
    long = {
        "summary": text,
        "aspects": [text] * 100,
        "entities": {name: [text] * 100 for name in ("technicians", "services", "problems")},
        "faq": [{"question": text, "answer": text}] * 100,
    }
    content = full(site({"description": text}, reviews, long))

    assert len(content) <= llms.MAX_FULL
