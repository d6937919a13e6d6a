"""Klein applications of the public site, on which routes are declared (decision 175).

A route is declared once, with ``@app.route`` on the method that answers it.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, Self, TypeVar

from klein import Klein
from twisted.internet.defer import Deferred

from reviewsd.http1.responses import Response
from reviewsd.http1.routes import BodyRule, Route

Answer = Response | Deferred[Response]
AnyAnswer = Answer | Coroutine[Deferred[Any], Any, Response]

MethodT = TypeVar("MethodT", bound=Callable[..., AnyAnswer])


class PublicApp(Klein):
    """A Klein application of methods that take a parsed request and return a response."""

    def __init__(self) -> None:
        super().__init__()
        self.routes: dict[str, Route] = {}  # by their rules, as Werkzeug spells them

    def __get__(self, instance: Any, owner: object) -> Self:  # noqa: ANN401  as Klein has it
        bound = super().__get__(instance, owner)
        assert isinstance(bound, type(self))  # noqa: S101  Klein makes one of the same class
        bound.routes = self.routes
        return bound

    def route(  # type: ignore[override]  # the options of Werkzeug's rules are not needed here
        self,
        *urls: str,
        methods: tuple[str, ...] | None = ("GET",),
        body: BodyRule = BodyRule.IGNORED,
        any_host: bool = False,
        cost: int = 1,
        page: bool = False,
    ) -> Callable[[MethodT], MethodT]:
        """Declare that a method answers some addresses, with the properties of a ``Route``.

        In the rules ``<name>`` is one segment, ``<path:name>`` one that may hold escaped slashes. Without methods
        the address is also answered with a slash at its end: redirected clients repeat a POST as a GET, or fail.
        """
        klein_route = super().route

        def declare(method: MethodT) -> MethodT:
            for url in urls:
                path = url.replace("<path:", "<").replace("<", "{").replace(">", "}")
                route = Route(
                    path=path, methods=methods, body=body, any_host=any_host, cost=cost, page=page
                )
                for rule in (url,) if methods else (url, f"{url}/"):
                    self.routes[rule] = route
                    klein_route(rule, methods=methods)(method)  # type: ignore[type-var]  # no Klein renders it
            return method

        return declare


class Answerer(Protocol):
    """A class that answers routes."""

    @property
    def app(self) -> PublicApp:
        """The Klein application that has its routes."""
