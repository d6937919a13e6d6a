"""Templates escape all that they show, and a faulty one is named."""

import pytest

from reviewsd.pages.environment import TemplateError, Templates, style

HOSTILE = "</script><b>]]>\"'&\x00\u202e"


def test_html_is_escaped_and_loses_what_it_cannot_hold() -> None:
    templates = Templates({"a.html": '<p title="{{ x }}">{{ x }}</p>'}, {"x": HOSTILE})
    shown = "&lt;/script&gt;&lt;b&gt;]]&gt;&#34;&#39;&amp;\ufffd\ufffd"
    assert f'<p title="{shown}">{shown}</p>' == templates.render("a.html")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Buy now", "\\# Buy now"),
        ("[a](javascript:x) `b` *c*", "\\[a\\](javascript:x) \\`b\\` \\*c\\*"),
        ("good\n- bad\n1. worse\n===", "good\n\\- bad\n1\\. worse\n\\==="),
        ("<script>", "\\<script\\>"),
    ],
)
def test_markdown_means_nothing(text: str, shown: str) -> None:
    assert shown == Templates({"a.md": "{{ x }}"}, {"x": text}).render("a.md")


@pytest.mark.parametrize(
    ("template", "line", "reason"),
    [
        ("a\n{% if %}", 2, "Expected an expression"),
        ("a\n\n{{ nobody }}", 3, "UndefinedError: 'nobody' is undefined"),
        ("{{ 1 / 0 }}", 1, "ZeroDivisionError: division by zero"),
        ("{% extends 'gone.html' %}", None, "there is no template gone.html"),
    ],
)
def test_a_fault_is_named_by_file_and_line(template: str, line: int | None, reason: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Templates({"own.html": template}, {}).render("own.html")
    error = caught.value
    assert ("own.html", line) == (error.name, error.line)
    assert error.reason.startswith(reason)


def test_a_style_sheet_has_no_comments_and_a_hash() -> None:
    sheet, digest = style('a {/* b */\n  c: "d: {";\n}\n/* e */')
    assert 'a{c:"d: {"}' == sheet
    assert "sha256-Q3VnVe7kQGWfozLCQ6T5gG6CHmyNDPyQsAgM/AUUszU=" == digest
