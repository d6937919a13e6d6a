"""The templates: Jinja2 with every value escaped and undefined names as errors (pages.md 2).

A template in the operator's ``pages.templates_dir`` replaces the shipped one of the same name. Values are escaped
as Markdown in ``.md`` and ``.txt``, so that the text of a review makes no heading, link or quotation there, and as
HTML in all other templates. Those in folders are ours alone: documentation, and documents for machines of several
formats. They call a function to escape a value.
"""

import base64
import hashlib
import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import jinja2
import msgspec
from jinja2.bccache import Bucket
from markupsafe import Markup

from reviewsd.pages.pictures import Picture
from reviewsd.pages.text import (
    beginning,
    escaped,
    line,
    link,
    markdown,
    printable,
    quotation,
    shortened,
)

TEMPLATES = Path(__file__).parent / "templates"
"""Folder of the shipped templates."""

MAX_TEMPLATE = 1 << 20
"""Bytes of a template of the operator, which is written by hand."""

TEMPLATE_ENDINGS = (".html", ".svg", ".css", ".md", ".txt", ".json")
"""Endings of the files that are read from ``pages.templates_dir``."""


class TemplateError(Exception):
    """A template cannot be used.

    Attributes:
        name: Name of the template.
        line: Line of the template, from 1; None if unknown.
        reason: The fault, for the operator.
    """

    def __init__(self, name: str, line: int | None, reason: str) -> None:
        self.name, self.line, self.reason = name, line, reason
        super().__init__(f"{name}: {reason}" if line is None else f"{name}:{line}: {reason}")


class Bytecode(jinja2.BytecodeCache):
    """Results that a publication leaves to the next one, because making them costs more than all else.

    They are compiled templates, the documentation as HTML, QR codes, and the words of a catalog, by key.
    """

    def __init__(self, previous: Mapping[str, bytes]) -> None:
        self._previous = previous
        self.used: dict[str, bytes] = {}
        """The results that this publication has used, known before or not."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the name of a template, and whether it is the operator's."""
        own = "own" if filename == name else "shipped"
        return f"{jinja2.__version__} {own} {name}"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template, unless there is none of this version of Python."""
        key = _content(bucket)
        if key in self._previous:
            bucket.bytecode_from_string(self._previous[key])
            if bucket.code is not None:
                self.used[key] = self._previous[key]

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that had to be compiled."""
        self.used[_content(bucket)] = bucket.bytecode_to_string()

    def result(self, kind: str, content: bytes, make: Callable[[], bytes]) -> bytes:
        """Return what is made of a content, now or by an earlier publication.

        Args:
            kind: Distinguishes results that are made of the same content.
            content: All that the result depends on.
            make: Makes it.
        """
        key = f"{kind} {hashlib.sha256(content).hexdigest()}"
        if key not in self.used:
            self.used[key] = self._previous.get(key) or make()
        return self.used[key]


def _content(bucket: Bucket) -> str:
    return f"{bucket.key} {bucket.checksum}"


@dataclass(frozen=True, slots=True)
class TemplateSources:
    """The operator's templates and pictures, and results of the publication before."""

    own: Mapping[str, str] = field(default_factory=dict)
    """The operator's templates, by name."""
    bytecode: Bytecode | None = None
    """Results of the publication before."""
    logos: Mapping[str, Picture] = field(default_factory=dict)
    """The operator's pictures by the names of their files, examined."""


class Templates:
    """The templates of one publication.

    Args:
        own: The operator's templates, by name.
        shared: Values for every template.
        bytecode: Results of the publication before.
    """

    def __init__(
        self,
        own: Mapping[str, str],
        shared: Mapping[str, object],
        *,
        bytecode: Bytecode | None = None,
    ) -> None:
        loader = jinja2.ChoiceLoader(
            [jinja2.FunctionLoader(_from(own)), jinja2.FileSystemLoader(TEMPLATES)]
        )
        self._html = jinja2.Environment(
            loader=loader,
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            finalize=_finalize_html,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
            bytecode_cache=bytecode,
        )
        self._html.policies["json.dumps_function"] = _json
        self._html.globals.update(shared, verbatim=Verbatim)
        self._text = self._html.overlay(autoescape=False, finalize=_finalize_markdown)
        self._internal = self._html.overlay(autoescape=False, finalize=None)
        self._internal.globals = self._html.globals | _INTERNAL_FUNCTIONS
        self._ready: dict[str, jinja2.Template] = {}

    def render(self, name: str, **context: object) -> str:
        """Render a template.

        Raises:
            TemplateError: The template is faulty, or uses an undefined name.
        """
        try:
            return self._template(name).render(context)
        except TemplateError:
            raise
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(error.name or name, error.lineno, str(error.message)) from error
        except jinja2.TemplateNotFound as error:
            raise TemplateError(name, None, f"there is no template {error.name}") from error
        except Exception as error:  # an operator's template may do anything
            raise TemplateError(*_place(error, name), f"{type(error).__name__}: {error}") from error

    def source(self, name: str) -> str:
        """Return the source of a template."""
        environment = self._of(name)
        assert environment.loader is not None  # noqa: S101  it was given one
        return environment.loader.get_source(environment, name)[0]

    def _template(self, name: str) -> jinja2.Template:
        template = self._ready.get(name)
        if template is None:
            template = self._ready[name] = self._of(name).get_template(name)
            template.globals = dict(template.globals)  # each rendering copies it; a ChainMap slowly
        return template

    def _of(self, name: str) -> jinja2.Environment:
        if "/" in name:
            return self._internal
        return self._text if name.endswith((".md", ".txt")) else self._html


def _json(value: object, **_: object) -> str:
    """Return JSON for ``json()``, and for ``|tojson``, which escapes the end of a script."""
    return msgspec.json.encode(value).decode()


_INTERNAL_FUNCTIONS = {
    "beginning": beginning,
    "json": _json,
    "line": line,
    "link": link,
    "markdown": markdown,
    "quotation": quotation,
    "shortened": shortened,
    "xml": partial(html.escape, quote=False),
}
"""Functions for the templates in folders."""


def _from(
    own: Mapping[str, str],
) -> Callable[[str], tuple[str, str, Callable[[], bool]] | None]:
    """Return a loader that gives templates their names as file names, for errors."""
    return lambda name: (own[name], name, lambda: True) if name in own else None


def _place(error: Exception, name: str) -> tuple[str, int | None]:
    """Return the template and line of an error."""
    place: tuple[str, int | None] = (name, None)
    trace = error.__traceback__
    while trace is not None:
        if "__jinja_exception__" in trace.tb_frame.f_globals:
            place = (Path(trace.tb_frame.f_code.co_filename).name, trace.tb_lineno)
        trace = trace.tb_next
    return place


def _finalize_html(value: object) -> object:
    """Return a value as HTML can hold it."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


class Verbatim(str):
    """Text that is Markdown already and is not escaped."""

    __slots__ = ()


def _finalize_markdown(value: object) -> object:
    """Return a value as Markdown without any markup (CommonMark 2.4)."""
    if isinstance(value, Verbatim) or not isinstance(value, str):
        return value
    return Verbatim("\n".join(map(escaped, printable(value).split("\n"))))


class Sheet(msgspec.Struct, frozen=True):
    """A style sheet."""

    text: Markup
    digest: str
    """Its hash for the Content-Security-Policy."""


def style(text: str) -> Sheet:
    """Return a style sheet without comments and blanks."""
    first, *comments = text.split("/*")
    text = first + "".join(part.partition("*/")[2] for part in comments)
    plain = "".join(line.strip() for line in text.splitlines()).split('"')
    packed = '"'.join(_packed(part) if at % 2 == 0 else part for at, part in enumerate(plain))
    digest = base64.b64encode(hashlib.sha256(packed.encode()).digest()).decode()
    return Sheet(Markup(packed), f"sha256-{digest}")  # noqa: S704  ours, or the operator's


def _packed(part: str) -> str:
    """Return a part of a style sheet outside of strings, without needless blanks."""
    for mark in ":;,{}":
        part = part.replace(f"{mark} ", mark)
    return part.replace(" {", "{").replace(" }", "}").replace(";}", "}").replace(" > ", ">")
