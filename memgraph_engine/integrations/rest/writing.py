"""Routes that write: all of it can be undone."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from memgraph_engine.integrations.rest import bodies
from memgraph_engine.integrations.rest.asked import Writing
from memgraph_engine.integrations.rest.looking import Id, NoteId
from memgraph_engine.integrations.rest.replies import answers
from memgraph_engine.model.result import Decision, Receipt

router = APIRouter(tags=["writing"])


@router.post("/v1/messages", **answers("add", Receipt))
async def add(body: bodies.AddBody, asked: Writing) -> Response:
    """Remember a text or a message; one that is stored already is recognised."""
    return await asked(lambda memory, own: memory.add(body.message, **own, wait=body.wait, shown=body.shown))


@router.post("/v1/messages/batch", **answers("add_many", Receipt))
async def add_many(body: bodies.AddManyBody, asked: Writing) -> Response:
    """Remember messages in order; a call that was cut off can be made again."""
    return await asked(lambda memory, own: memory.add_many(body.messages, **own, wait=body.wait, shown=body.shown))


@router.post("/v1/process", **answers("process", Receipt))
async def process(body: bodies.ProcessBody, asked: Writing) -> Response:
    """Construct the notes that `wait: false` left pending."""
    return await asked(lambda memory, own: memory.process(**own, limit=body.limit))


@router.put("/v1/notes/{id:path}", **answers("update", Decision))
async def update(id: NoteId, body: bodies.TextBody, asked: Writing) -> Response:  # noqa: A002
    """Give a note a new text; `history` keeps the old one."""
    return await asked(lambda memory, own: memory.update(id, body.text, **own))


@router.delete("/v1/notes/{id:path}", **answers("delete", Decision))
async def delete(id: NoteId, asked: Writing) -> Response:  # noqa: A002
    """Delete a note: no search finds it, and `undo` brings it back."""
    return await asked(lambda memory, own: memory.delete(id, **own))


@router.post("/v1/decisions/{id}/undo", **answers("undo", Decision))
async def undo(
    id: Id,  # noqa: A002
    asked: Writing,
    cascade: Annotated[bool, Query(description="Undo later decisions first that changed what it made.")] = False,
) -> Response:
    """Take a decision back; return the new one."""
    return await asked(lambda memory, own: memory.undo(id, cascade=cascade, **own))


@router.post("/v1/untie", **answers("untie", Decision))
async def untie(body: bodies.TieBody, asked: Writing) -> Response:
    """Take back the tie between two notes, and leave the notes."""
    return await asked(lambda memory, own: memory.untie(body.note, body.other, **own))


@router.put("/v1/profile", **answers("set_profile", Decision))
async def set_profile(body: bodies.AttributeBody, asked: Writing) -> Response:
    """Give the profile of a user, or of a speaker, a value; null ends what it has by this name."""
    return await asked(lambda memory, own: memory.set_profile(body.name, body.value, subject=body.subject, **own))


@router.put("/v1/pins/{id:path}", **answers("pin", Decision))
async def pin(id: NoteId, asked: Writing) -> Response:  # noqa: A002
    """Keep a note for ever, whatever its policy."""
    return await asked(lambda memory, own: memory.pin(id, **own))


@router.delete("/v1/pins/{id:path}", **answers("unpin", Decision))
async def unpin(id: NoteId, asked: Writing) -> Response:  # noqa: A002
    """Let a pinned note end as its policy says."""
    return await asked(lambda memory, own: memory.unpin(id, **own))


@router.put("/v1/policies/{id:path}", **answers("set_policy", Decision))
async def set_policy(id: NoteId, body: bodies.PolicyBody, asked: Writing) -> Response:  # noqa: A002
    """Give a note another policy."""
    return await asked(lambda memory, own: memory.set_policy(id, body.policy, **own))


@router.post("/v1/restore/{id:path}", **answers("restore", Decision))
async def restore(id: NoteId, asked: Writing) -> Response:  # noqa: A002
    """Bring back a note that expired or was archived."""
    return await asked(lambda memory, own: memory.restore(id, **own))


@router.post("/v1/end-session/{id:path}", **answers("end_session", Decision))
async def end_session(id: Id, asked: Writing) -> Response:  # noqa: A002
    """End a session, and with it the notes that live only as long."""
    return await asked(lambda memory, own: memory.end_session(id, **own))
