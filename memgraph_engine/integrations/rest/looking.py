"""Routes that look something up."""

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput
from memgraph_engine.integrations.rest.asked import OfTenant, Reading, Writing
from memgraph_engine.integrations.rest.replies import answers
from memgraph_engine.interface.defaults import MOST, NEWEST, OUTLINE
from memgraph_engine.interface.filters import NoteFilters, filters_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.block import Block
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.health import Health
from memgraph_engine.model.memory import Note, Source
from memgraph_engine.model.profile import Profile
from memgraph_engine.model.result import Decision, Deletion, Session, Spending, Stats, Story, User, Version
from memgraph_engine.model.topic import Topic, TopicTie

router = APIRouter(tags=["looking up"])

_PAGE = 50
NoteId = Annotated[str, Path(description="The id of a note, or of one of its sources.")]
Id = Annotated[str, Path()]
Several = Annotated[list[str] | None, Query()]


def narrowed(
    session: str | None = None,
    speaker: str | None = None,
    role: str | None = None,
    agent: str | None = None,
    kind: str | None = None,
    since: str | None = None,
    until: str | None = None,
    tags: Several = None,
    metadata: Annotated[list[str] | None, Query(description="KEY=VALUE; can be repeated.")] = None,
) -> NoteFilters:
    """Read the filters of a listing from the parameters of a request."""
    one = {"session": session, "speaker": speaker, "role": role, "agent": agent, "kind": kind}
    one |= {"since": since, "until": until}
    given = {name: [] if value is None else [value] for name, value in one.items()}
    return filters_of({**given, "tags": tags or [], "metadata": metadata or []})


Filtered = Annotated[NoteFilters, Depends(narrowed)]


@router.get("/v1/notes", **answers("get_all", {"notes": list[Note], "next": str | None}))
async def get_all(
    asked: Reading,
    filters: Filtered,
    limit: Annotated[int, Query(ge=1, le=MOST)] = _PAGE,
    after: Annotated[str | None, Query(description="The `next` of the page before.")] = None,
) -> Response:
    """List notes, oldest first, a page at a time; `next` is null on the last."""
    return await asked(lambda memory, own: _page(memory, own, filters, limit, after))


def _page(memory: Memory, own: Whose, filters: NoteFilters, limit: int, after: str | None) -> dict[str, object]:
    found = list(islice(memory.get_all(**own, **filters, after=after), limit + 1))
    return {"notes": found[:limit], "next": found[limit - 1].id if len(found) > limit else None}


@router.delete("/v1/notes", **answers("delete_all", Deletion), tags=["writing"])
async def delete_all(
    asked: Writing,
    filters: Filtered,
    everything: Annotated[bool, Query(description="Every note, where no filter is given.")] = False,
) -> Response:
    """Delete the notes that match the filters; `undo` of each decision brings them back."""
    if everything == bool(filters):
        raise InvalidInput("Say which notes are meant by a filter, or else everything=true.")
    return await asked(lambda memory, own: memory.delete_all(**own, **filters))


@router.get("/v1/notes/{id:path}", **answers("get", Note))
async def get(id: NoteId, asked: Reading) -> Response:  # noqa: A002  the engine's own word
    """Return a note."""
    return await asked(lambda memory, own: memory.get(id, **own))


@router.get("/v1/sources/{id:path}", **answers("source", Source))
async def source(id: Id, asked: Reading) -> Response:  # noqa: A002
    """Return a message, or a document's passage, as it came."""
    return await asked(lambda memory, own: memory.source(id, **own))


@router.get("/v1/history/{id:path}", **answers("history", {"versions": list[Version]}))
async def history(id: NoteId, asked: Reading) -> Response:  # noqa: A002
    """Return all versions of a note, oldest first, each with the decision that made it."""
    return await asked(lambda memory, own: {"versions": memory.history(id, **own)})


@router.get("/v1/explain/{id:path}", **answers("explain", Story))
async def explain(id: NoteId, asked: Reading) -> Response:  # noqa: A002
    """Tell how a note came to be what it is: its versions, decisions and ties."""
    return await asked(lambda memory, own: memory.explain(id, **own))


@router.get("/v1/decisions", **answers("decisions", {"decisions": list[Decision]}))
async def decisions(
    asked: Reading,
    limit: Annotated[int, Query(ge=1, le=MOST)] = NEWEST,
    before: Annotated[str | None, Query(description="Made until then, ISO 8601.")] = None,
) -> Response:
    """Return the newest decisions of a memory, newest first."""
    return await asked(lambda memory, own: {"decisions": memory.decisions(**own, limit=limit, before=before)})


@router.get("/v1/profile", **answers("profile", Profile))
async def profile(asked: Reading, subject: str = "", known_at: str | None = None) -> Response:
    """Return what is known about a user, or about a speaker (`subject`)."""
    return await asked(lambda memory, own: memory.profile(**own, subject=subject, known_at=known_at))


@router.get("/v1/sessions", **answers("sessions", {"sessions": list[Session]}))
async def sessions(asked: Reading) -> Response:
    """Return the conversations and documents of a memory, the latest first."""
    return await asked(lambda memory, own: {"sessions": memory.sessions(**own)})


@router.get("/v1/topics", **answers("topics", {"topics": list[Topic]}))
async def topics(asked: Reading) -> Response:
    """Return the topics of a memory, the largest first."""
    return await asked(lambda memory, own: {"topics": memory.topics(**own)})


@router.get("/v1/topics/{id}", **answers("topic", Topic))
async def topic(id: Id, asked: Reading) -> Response:  # noqa: A002
    """Return a topic with all of its keywords."""
    return await asked(lambda memory, own: memory.topic(id, **own))


@router.get("/v1/topic-ties", **answers("topic_ties", {"ties": list[TopicTie]}))
async def topic_ties(asked: Reading) -> Response:
    """Return which topics occur together in notes, the strongest tie first."""
    return await asked(lambda memory, own: {"ties": memory.topic_ties(**own)})


@router.get("/v1/outline", **answers("outline", {"blocks": list[Block]}))
async def outline(
    asked: Reading, nodes: Annotated[int, Query(ge=1, le=MOST)] = OUTLINE, below: str | None = None
) -> Response:
    """Return at most so many blocks that hold all notes between them, or the two that one is made of."""
    return await asked(lambda memory, own: {"blocks": memory.outline(nodes, below=below, **own)})


@router.get("/v1/blocks/{id}", **answers("block", Block))
async def block(id: Id, asked: Reading) -> Response:  # noqa: A002
    """Return a block with its fields."""
    return await asked(lambda memory, own: memory.block(id, **own))


@router.get("/v1/claims/{id}", **answers("claim", Claim))
async def claim(id: Id, asked: Reading) -> Response:  # noqa: A002
    """Return a claim with the notes that support it."""
    return await asked(lambda memory, own: memory.claim(id, **own))


@router.get("/v1/stats", **answers("stats", Stats))
async def stats(asked: Reading) -> Response:
    """Count what a memory holds."""
    return await asked(lambda memory, own: memory.stats(**own))


@router.get("/v1/cost", **answers("cost", {"days": list[Spending]}))
async def cost(asked: Reading, since: str | None = None) -> Response:
    """Return what chat models cost a memory, day by day, newest first."""
    return await asked(lambda memory, own: {"days": memory.cost(**own, since=since)})


@router.get("/v1/users", **answers("users", {"users": list[User]}), tags=["of the tenant"])
async def users(asked: OfTenant) -> Response:
    """Return the tenant's users; it takes a key of the whole tenant."""
    return await asked(lambda memory, _own: {"users": memory.users()})


@router.get("/v1/health", **answers("health", Health), tags=["of the tenant"])
async def health(asked: OfTenant) -> Response:
    """Tell how the tenant's database is, and what waits for a worker; it takes a key of the whole tenant."""
    return await asked(lambda memory, _own: memory.health())
