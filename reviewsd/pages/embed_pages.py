"""The embed and the page that configures it, filled in for their options (pages.md 7)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from reviewsd.domain.embed_options import BADGE, DARK, EMBED_PARAMETERS, LIGHT, EmbedOptions
from reviewsd.domain.issues import Issue
from reviewsd.domain.parameter_rules import ParameterType, SearchParameter
from reviewsd.domain.reviews import Review
from reviewsd.http1 import urls
from reviewsd.pages import embed_lines, theme
from reviewsd.pages.cards import Cards
from reviewsd.pages.environment import Sheet, Templates, style
from reviewsd.pages.filters import MAX_VALUE, by_field, values_of
from reviewsd.pages.frames import EmbedFrames, Frames
from reviewsd.pages.text import beginning
from reviewsd.pages.words import Words

_EXCERPT = 220
"""Characters of a review in the embed."""

_SHEETS = 64
"""Style sheets that are kept; any client may ask for one in a color of its own."""

_MAX_NAME = 40
"""Characters of an unknown name that a page repeats."""

_PARAMETERS = {parameter.name: parameter for parameter in EMBED_PARAMETERS}


class OptionField(Struct, frozen=True, kw_only=True):
    """One field of the form that configures the embed."""

    name: str
    label: str
    value: str
    choices: Sequence[tuple[str, str]]
    """(value, label) of each choice; none for a color."""
    issues: Sequence[str]


class EmbedPages:
    """Renders the embed and the page that configures it; ``templates`` are as in ``RequestPages``."""

    def __init__(self, published: Frames, templates: Templates | None = None) -> None:
        self.frames: EmbedFrames = published.embed
        self._base_url = published.base_url
        self._templates = templates or published.templates_for_requests()
        self._words = Words(published.words, published.language)
        self._cards = Cards(self._words, published.business.name, self._templates)
        self._title = self._words("embed_title", name=published.business.name)
        self.sheet = lru_cache(_SHEETS)(self._sheet)

    def effective(self, options: EmbedOptions) -> EmbedOptions:
        """Return the options without the accent if it is that of the site."""
        is_own = options.accent == self.frames.accent
        return replace(options, accent=None) if is_own else options

    def _sheet(self, scheme: str, accent: str | None) -> Sheet:
        """Return the style sheet of a theme and an accent."""
        color = accent or self.frames.accent
        text = self._templates.render(
            "embed.css",
            theme=scheme,
            light=None if scheme == DARK else theme.shades(color, theme.LIGHT),
            dark=None if scheme == LIGHT else theme.shades(color, theme.DARK),
        )
        return style(text)

    def embed(self, options: EmbedOptions, reviews: Sequence[Review]) -> bytes:
        """Render the embed; the badge has no reviews."""
        sheet = self.sheet(options.theme, options.accent).text
        if options.layout == BADGE:
            return self.frames.badge.fill(sheet=sheet)
        excerpts = [
            replace(review, text=review.text and beginning(review.text, _EXCERPT), owner_reply=None)
            for review in reviews
        ]
        cards = self._cards.html(
            self._cards.of(excerpts), 2, "embed_card.html", base_url=self._base_url
        )
        if not cards and options.min_rating > 1:
            cards = Markup('<p class="mute">{}</p>').format(self._words("embed_none"))
        return self.frames.reviews.fill(
            sheet=sheet,
            layout=options.layout,
            note=self._note(options.min_rating),
            cards=cards,
        )

    def _note(self, min_rating: int) -> str:
        """Return that the reviews are a choice; silence would be misleading (EU 2005/29/EC, annex I 23c)."""
        if min_rating == _PARAMETERS["min_rating"].minimum:
            return ""
        most = _PARAMETERS["min_rating"].maximum
        key = "embed_only_best" if min_rating == most else "embed_only"
        return Markup('<p class="note">{}</p>').format(self._words(key, rating=min_rating))

    def invalid(self, issues: Sequence[Issue], parameters: Sequence[SearchParameter]) -> bytes:
        """Render the page in place of an embed or a badge with invalid options."""
        by_name = {parameter.name: parameter for parameter in parameters}
        texts = [self._advice(issue, by_name) for issue in issues]
        return self.frames.invalid.fill(
            sheet=self.sheet(EmbedOptions().theme, None).text,
            issues=self._templates.render("embed_issues.html", issues=texts),
        )

    def setup(self, options: EmbedOptions) -> bytes:
        """Render the page that configures the embed, with the result and the lines to copy."""
        values = options.changed()
        return self._fill_setup(values, {}, self._result(options))

    def invalid_setup(self, query: bytes, issues: Sequence[Issue]) -> bytes:
        """Render the page with the issues of the options beside their fields."""
        values = {
            name: text[:MAX_VALUE] for name, text in values_of(query).items() if name in _PARAMETERS
        }
        wrong = by_field(issues, partial(self._advice, parameters=_PARAMETERS))
        return self._fill_setup(values, wrong, "")

    def _fill_setup(
        self, values: Mapping[str, str], issues: Mapping[str, Sequence[str]], result: str
    ) -> bytes:
        fields = [
            self._field(parameter, values.get(parameter.name, ""), issues.get(parameter.name, ()))
            for parameter in EMBED_PARAMETERS
        ]
        form = self._templates.render(
            "embed_form.html", fields=fields, action=urls.DEVELOPERS_EMBED
        )
        return self.frames.setup.fill(form=form, result=result)

    def _field(self, parameter: SearchParameter, value: str, issues: Sequence[str]) -> OptionField:
        name = parameter.name
        if parameter.kind is ParameterType.COLOR:
            digits = value.removeprefix("#")
            choices: list[tuple[str, str]] = []
            value = self.frames.accent if issues or not digits else f"#{digits}"
        else:
            choices = [(choice, self._choice(name, choice)) for choice in _choices(parameter)]
            value = str(parameter.default) if issues else value or str(parameter.default)
        label = self._words(f"embed_{name}")
        return OptionField(name=name, label=label, value=value, choices=choices, issues=issues)

    def _choice(self, name: str, choice: str) -> str:
        if name == "count":
            return choice
        if name == "min_rating":
            key = {"1": "embed_rating_any", "5": "embed_rating_best"}.get(choice, "embed_rating")
            return self._words(key, rating=choice)
        return self._words(f"embed_{name}_{choice}")

    def _result(self, options: EmbedOptions) -> str:
        """Render the embed as it will look, and the lines to copy."""
        return self._templates.render(
            "embed_result.html",
            path=embed_lines.embed_path(options),
            theme=options.theme,
            height=embed_lines.preview_height(options),
            title=self._title,
            script_line=embed_lines.script_line(self._base_url, options, self._title),
            frame_line=embed_lines.frame_line(self._base_url, options, self._title),
        )

    def _advice(self, issue: Issue, parameters: Mapping[str, SearchParameter]) -> str:
        """Return what is right, in words."""
        name = issue.path[0]
        parameter = parameters.get(name)
        if parameter is None:
            names = ", ".join(parameters)
            return self._words("embed_unknown", name=name[:_MAX_NAME], names=names)
        kind = "text" if parameter.kind is ParameterType.COLOR else parameter.kind.name.lower()
        return self._words(
            f"embed_advice_{kind}",
            name=name,
            choices=", ".join(parameter.choices),
            least=parameter.minimum,
            most=parameter.maximum,
            example=parameter.example,
        )


def _choices(parameter: SearchParameter) -> Sequence[str]:
    if parameter.choices:
        return parameter.choices
    least, most = parameter.minimum or 0, parameter.maximum or 0
    return [str(number) for number in range(least, most + 1)]
