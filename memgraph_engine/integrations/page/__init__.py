"""A page to look at a memory: rendered here, without a script, and with nothing from another host (docs/page.md).

Each of its addresses reads from a memory, or does one thing to it and shows what came of it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial, wraps
from heapq import nsmallest
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, FastAPI, Form, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, KeyRefused, MemgraphEngineError, NotAllowed
from memgraph_engine.integrations.access import Access, Caller
from memgraph_engine.integrations.rest.gate import PAGE
from memgraph_engine.interface.status import status_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.key import Right
from memgraph_engine.model.marker import shown
from memgraph_engine.model.memory import NEVER, READABLE, Note
from memgraph_engine.model.result import Story
from memgraph_engine.recall.fusion import CHANNELS

if TYPE_CHECKING:
    from memgraph_engine.integrations.rest.work import Work

T = TypeVar("T")
_WORK = TypeVar("_WORK", bound=Callable[..., Mapping[str, Any]])

COOKIE = "memgraph-engine-key"
AT = PAGE
_COOKIE = 3_500  # characters of it that browsers keep; they drop one of more than 4 KB with all that is beside
_HITS, _BLOCKS, _ENDING = 20, 12, 50
_STEPS = 20  # of what was true when
_CHANGES = ("change", "supersede")  # kinds of ties
_SHARED = "shared"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_FILES = {"style.css": "text/css", "icon.svg": "image/svg+xml"}

router = APIRouter(prefix=AT, include_in_schema=False)


def _moment(at: datetime | None) -> str:
    """Return a time as people read it.

    >>> _moment(datetime(2024, 5, 1, 10, 30)), _moment(NEVER), _moment(None)
    ('2024-05-01 10:30', 'never', '')
    """
    if at is None:
        return ""
    return "never" if at == NEVER else f"{at:%Y-%m-%d %H:%M}"


_pages = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: shown(value) if type(value) is str else value,  # what is a string of markup is of a template
)
_pages.filters["moment"] = _moment


class Seen:
    """Who looks, and at whose memory: `user` in the address, `shared` for the tenant's own.

    Someone who may see all users and names none sees the list of them.
    """

    def __init__(self, request: Request, caller: Caller, user: str, *, shared: bool) -> None:
        self.caller, self.user, self.shared = caller, user or caller.user_id or "", shared
        self.access: Access = request.app.state.access
        self.keyed = COOKIE in request.cookies
        self._work: Work = request.app.state.work

    @property
    def memory(self) -> Memory:
        """The memory of the tenant."""
        return self.caller.memory

    @property
    def chosen(self) -> bool:
        """Whether a memory is named."""
        return bool(self.user or self.shared)

    def whose(self, right: Right = "read") -> Whose:
        """Return whose memory is meant; raises NotAllowed."""
        if not self.chosen:
            raise InvalidInput("Say whose memory is meant: choose a user first.")
        return self.caller.whose(right, None if self.shared else self.user, shared=self.shared)

    def may(self, right: Right) -> bool:
        """Tell whether a button for it has a use."""
        return right in self.caller.rights and not (self.shared and self.caller.user_id)

    def link(self, path: str, **given: object) -> str:
        """Return an address of the page, of the same memory."""
        own = {_SHARED: "1"} if self.shared else {"user": self.user} if self.user else {}
        query = urlencode({**own, **{name: value for name, value in given.items() if value not in ("", None)}})
        return f"{AT}{path}?{query}" if query else f"{AT}{path}"

    async def run(self, call: Callable[[], T]) -> T:
        """Do what blocks in a thread, within the server's limits."""
        return await self._work.run(call)

    def show(self, page: str, status: int = 200, **given: Any) -> HTMLResponse:
        """Return a page."""
        text = _pages.get_template(page).render(seen=self, link=self.link, **given)
        return HTMLResponse(text, status, _HEADERS)

    async def told(self, page: str, work: Callable[[], Mapping[str, Any]]) -> Response:
        """Return a page of what some work tells; what it can't do is told on a page of its own."""
        try:
            return self.show(page, **await self.run(work))
        except MemgraphEngineError as error:
            return self.show("error.html", status_of(error).http, error=str(error))


class Locked(Exception):
    """Who looks has no key, or one that opens nothing: the page asks for one."""


class Failed(Exception):
    """It can't be found out who looks, for what is its cause: the database does not answer."""


async def _look(request: Request, user: str = "", shared: bool = False) -> Seen:
    """Return who looks, by the key of a cookie; raises Locked, and NotAllowed for a form of another page."""
    if request.method == "POST" and not _of_this_page(request):
        raise NotAllowed("This was sent by another page, and was not done.")
    try:
        caller = await run_in_threadpool(request.app.state.access.caller, request.cookies.get(COOKIE))
    except KeyRefused as error:
        raise Locked from error
    except MemgraphEngineError as error:
        raise Failed from error
    return Seen(request, caller, user, shared=shared)


def _of_this_page(request: Request) -> bool:
    """Tell whether a form was sent by a page of this server: a browser says so, and whatever else sends it may not."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "")
    return site == "same-origin" if site else urlsplit(origin).netloc == request.headers.get("host")


Look = Annotated[Seen, Depends(_look)]


def install(app: FastAPI) -> None:
    """Serve the page with an app that has an `access` and a place to `work`."""

    async def ask(_request: Request, _error: Exception) -> Response:
        return RedirectResponse(f"{AT}/login", 303, _HEADERS)

    async def tell(_request: Request, error: Exception) -> Response:
        assert isinstance(error.__cause__, MemgraphEngineError)
        text = _pages.get_template("failed.html").render(error=str(error.__cause__))
        return HTMLResponse(text, status_of(error.__cause__).http, _HEADERS)

    app.add_exception_handler(Locked, ask)
    app.add_exception_handler(Failed, tell)
    app.include_router(router)


@router.get("/login")
async def login() -> Response:
    """Ask for a key, or a token."""
    return _asking()


def _asking(failed: str = "") -> Response:
    return HTMLResponse(_pages.get_template("login.html").render(failed=failed), 401 if failed else 200, _HEADERS)


@router.post("/login")
async def opened(request: Request, key: Annotated[str, Form()]) -> Response:
    """Keep a key in a cookie that no script can read, and no other site sends."""
    if not _of_this_page(request):
        raise NotAllowed("This was sent by another page, and was not done.")
    try:
        await run_in_threadpool(request.app.state.access.caller, key.strip())
        if len(key) > _COOKIE:
            raise KeyRefused(f"A token of more than {_COOKIE:,} characters can't be kept: sign in with a key.")
    except KeyRefused as error:
        return _asking(str(error))
    except MemgraphEngineError as error:
        raise Failed from error
    response = RedirectResponse(AT, 303, _HEADERS)
    secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))  # what a proxy says of itself
    response.set_cookie(COOKIE, key.strip(), path=AT, httponly=True, samesite="strict", secure=secure)
    return response


@router.post("/logout")
async def logout(seen: Look) -> Response:  # noqa: ARG001  a form of another page must not
    """Forget the key."""
    response = RedirectResponse(f"{AT}/login", 303, _HEADERS)
    response.delete_cookie(COOKIE, path=AT)
    return response


@router.get("/style.css")
@router.get("/icon.svg")
async def file(request: Request) -> Response:
    """Return how the page looks, or its icon."""
    name = request.url.path.rpartition("/")[2]
    headers = {**_HEADERS, "Cache-Control": "max-age=3600"}
    return Response(resources.files(__package__).joinpath(name).read_bytes(), headers=headers, media_type=_FILES[name])


@router.get("")
async def home(seen: Look) -> Response:
    """Show the users whose memory may be looked at, or the search of the one that is named."""
    if seen.chosen:
        return RedirectResponse(seen.link("/search"), 303, _HEADERS)

    def users() -> Mapping[str, Any]:
        seen.caller.need_tenant("read")
        return {"users": seen.memory.users()}

    return await seen.told("users.html", users)


@router.get("/")
async def also(request: Request) -> Response:
    """Lead to the address without a slash at its end."""
    return RedirectResponse(f"{AT}?{request.url.query}" if request.url.query else AT, 303, _HEADERS)


def _shown(path: str, template: str, take: Callable[..., Callable[..., Any]] = router.get) -> Callable[[_WORK], _WORK]:
    """Show at an address what some work tells; the work blocks, and its parameters are read off its signature."""

    def serving(work: _WORK) -> _WORK:
        @wraps(work)
        async def endpoint(seen: Seen, **given: Any) -> Response:
            return await seen.told(template, partial(work, seen, **given))

        take(path)(endpoint)
        return work

    return serving


@_shown("/search", "search.html")
def search(seen: Look, query: str = "") -> Mapping[str, Any]:
    """Show what a question finds, with the scores of each channel."""
    whose = seen.whose()
    hits = seen.memory.search(query, top_k=_HITS, explain=True, **whose) if query.strip() else []
    return {"query": query, "hits": hits, "channels": CHANNELS, "stats": seen.memory.stats(**whose)}


@_shown("/notes/{id}", "note.html")
def note(seen: Look, id: str) -> Mapping[str, Any]:  # the engine's own word
    """Show a note with its sources, versions, decisions and ties, and what else was true of the same matter."""
    whose = seen.whose()
    story = seen.memory.explain(id, **whose)
    return {"story": story, "timeline": _timeline(seen.memory, story, whose)}


@_shown("/facts", "facts.html")
def facts(seen: Look, about: str = "") -> Mapping[str, Any]:
    """Show what is true of the user, or of what has a name, and what was."""
    return {"about": about, "facts": seen.memory.facts(about.strip(), former=True, **seen.whose())}


def _timeline(memory: Memory, story: Story, whose: Whose) -> list[Note]:
    """Return the notes that took the place of one another, the first one first, as far as they can be read."""
    known, waiting = {story.note.id: story.note}, [story]
    while waiting and len(known) < _STEPS:
        for tie in waiting.pop().ties:
            if tie.kind in _CHANGES and tie.note not in known:
                other = memory.explain(tie.note, **whose)
                known[tie.note] = other.note
                waiting.append(other)
    return sorted((one for one in known.values() if one.status in READABLE), key=lambda one: (one.said_at, one.id))


@_shown("/decisions", "decisions.html")
def decisions(seen: Look) -> Mapping[str, Any]:
    """Show what was decided last."""
    return {"decisions": seen.memory.decisions(**seen.whose())}


@_shown("/undo", "undone.html", router.post)
def undo(seen: Look, decision: Annotated[str, Form()]) -> Mapping[str, Any]:
    """Take a decision back."""
    return {"decision": seen.memory.undo(decision, **seen.whose("write"))}


@_shown("/topics", "topics.html")
def topics(seen: Look) -> Mapping[str, Any]:
    """Show the topics of a memory, and the largest blocks of its tree."""
    whose = seen.whose()
    return {"topics": seen.memory.topics(**whose), "blocks": seen.memory.outline(_BLOCKS, **whose)}


@_shown("/topics/{id}", "topic.html")
def topic(seen: Look, id: str) -> Mapping[str, Any]:
    """Show a topic with all of its keywords."""
    return {"topic": seen.memory.topic(id, **seen.whose())}


@_shown("/blocks/{id}", "block.html")
def block(seen: Look, id: str) -> Mapping[str, Any]:
    """Show a block: what it tells, and the two that it is made of."""
    whose = seen.whose()
    return {"block": seen.memory.block(id, **whose), "parts": seen.memory.outline(below=id, **whose)}


@_shown("/ending", "ending.html")
def ending(seen: Look) -> Mapping[str, Any]:
    """Show which notes end next."""
    some = (note for note in seen.memory.get_all(**seen.whose()) if note.expires_at != NEVER)
    return {"notes": nsmallest(_ENDING, some, key=lambda note: (note.expires_at, note.id))}


@_shown("/forget", "forget.html")
def forget(seen: Look) -> Mapping[str, Any]:
    """Ask what is to be erased."""
    return {"whose": seen.whose("forget")}


@_shown("/forget", "plan.html", router.post)
def plan(
    seen: Look,
    query: Annotated[str, Form()] = "",
    source: Annotated[str, Form()] = "",
    session: Annotated[str, Form()] = "",
    near: Annotated[bool, Form()] = False,
) -> Mapping[str, Any]:
    """Show what would be erased; nothing is yet."""
    given = {"query": query, "source": source, "session": session}
    some = {name: value for name, value in given.items() if value.strip()}
    made = seen.memory.forget(**some, near=near, **seen.whose("forget"))  # type: ignore[arg-type]
    seen.access.plans.keep(made)
    return {"plan": made}


@_shown("/erase", "receipt.html", router.post)
def erase(seen: Look, plan: Annotated[str, Form()]) -> Mapping[str, Any]:
    """Erase what was shown, and show the receipt."""
    made = seen.access.plans.take(plan, seen.memory.engine.settings.tenant, seen.whose("forget"))
    return {"receipt": seen.memory.erase(made)}
