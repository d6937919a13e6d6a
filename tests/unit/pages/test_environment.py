"""Templates escape all that they show, and a faulty one is named."""

import jinja2
import pytest

from reviewsd.pages.environment import Bytecode, TemplateError, Templates, style

HOSTILE = "</script><b>]]>\"'&\x00\u202e"


def test_html_is_escaped_without_forbidden_characters() -> None:
    templates = Templates({"a.html": '<p title="{{ x }}">{{ x }}</p>'}, {"x": HOSTILE})
    escaped = "&lt;/script&gt;&lt;b&gt;]]&gt;&#34;&#39;&amp;\ufffd\ufffd"
    assert f'<p title="{escaped}">{escaped}</p>' == templates.render("a.html")


def test_compiled_template_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where only the shipped templates are the same; and faults are named all the same."""
    first = Bytecode({})
    own = {"own.html": "\n{{ x }}", "own.md": "{{ x }}"}
    for name in own:
        Templates(own, {"x": "1"}, bytecode=first).render(name)
    monkeypatch.setattr(jinja2.Environment, "compile", None)
    known = Bytecode(first.used)
    assert "\n2" == Templates(own, {"x": "2"}, bytecode=known).render("own.html")
    with pytest.raises(TemplateError, match=r"own.html:2: UndefinedError"):
        Templates(own, {}, bytecode=known).render("own.html")
    assert set(known.used) < set(first.used)


@pytest.mark.parametrize("name", ["own.html", "card.html"])
def test_changed_template_is_compiled_again(name: str) -> None:
    """A template of the operator is another one, even with a shipped name."""
    first = Bytecode({})
    Templates({name: "old"}, {}, bytecode=first).render(name)
    assert "new" == Templates({name: "new"}, {}, bytecode=Bytecode(first.used)).render(name)


@pytest.mark.parametrize("damage", [b"", b"of another Python", None])
def test_unusable_bytecode_is_compiled_again(damage: bytes | None) -> None:
    first = Bytecode({})
    Templates({"a.html": "a"}, {}, bytecode=first).render("a.html")
    ((key, code),) = first.used.items()
    broken = code[:-5] if damage is None else damage
    again = Bytecode({key: broken})
    assert "a" == Templates({"a.html": "a"}, {}, bytecode=again).render("a.html")
    assert first.used == again.used


def test_a_style_sheet_has_no_comments_and_a_hash() -> None:
    sheet = style('a {/* b */\n  c: "d: {";\n}\n/* e */')
    assert 'a{c:"d: {"}' == sheet.text
    assert "sha256-Q3VnVe7kQGWfozLCQ6T5gG6CHmyNDPyQsAgM/AUUszU=" == sheet.digest
