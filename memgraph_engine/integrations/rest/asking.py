"""Routes that ask a memory a question."""

import json
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.integrations.rest import bodies
from memgraph_engine.integrations.rest.asked import Reading, Writing, rendered
from memgraph_engine.integrations.rest.problems import Refused, described, document
from memgraph_engine.integrations.rest.replies import answers
from memgraph_engine.model.answer import Answer, Context
from memgraph_engine.model.block import Block
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.prompt import Prompt
from memgraph_engine.model.result import Hit, Hits, Reflection

router = APIRouter(tags=["asking"])

_HITS = {
    "hits": list[Hit],
    "degraded": list[str],
    "among": int,
    "dropped": dict[str, str],
    "fallbacks": list[str],
}


def _all_of(hits: Hits) -> dict[str, object]:
    return {
        "hits": list(hits),
        "degraded": hits.degraded,
        "among": hits.among,
        "dropped": hits.dropped,
        "fallbacks": hits.fallbacks,
    }


@router.post("/v1/search", **answers("search", _HITS))
async def search(body: bodies.SearchBody, asked: Reading) -> Response:
    """Find the notes that answer a question best, of the user's memory and the shared one."""
    return await asked(lambda memory, own: _all_of(memory.search(**body.given(), **own)))


@router.post("/v1/context", **answers("context", Context))
async def context(body: bodies.ContextBody, asked: Reading) -> Response:
    """Return what the memory holds on a question, numbered and dated, for the prompt of a model.

    The `line` of each entry, and `general`, are what `add` takes as `shown`.
    """
    return await asked(lambda memory, own: memory.context(**body.given(), **own))


@router.post("/v1/prompt", **answers("prompt", Prompt))
async def prompt(body: bodies.PromptBody, asked: Reading) -> Response:
    """Return the messages to give a model for a question: what is known, remembered and was just said."""
    return await asked(lambda memory, own: memory.prompt(**body.given(), **own))


@router.post("/v1/answer", **answers("answer", Answer))
async def answer(body: bodies.AskBody, asked: Reading) -> Response:
    """Let the server's chat model answer a question, with citations that are checked.

    Without a model `text` is null, and `fallbacks` says why.
    """
    return await asked(lambda memory, own: memory.answer(**body.given(), **own))


@router.post(
    "/v1/answer/stream",
    operation_id="answer_stream",
    responses={
        200: {
            "description": "Server-sent events: `piece` with {text}, then `answer` with all of it, or `problem`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def answer_stream(body: bodies.AskBody, asked: Reading) -> Response:
    """Let the server's chat model answer a question, and send the answer while it comes."""
    memory, own = asked.caller.memory, asked.whose
    pieces = await asked.work.stream(lambda: memory.answer_stream(**body.given(), **own))
    return StreamingResponse(_events(pieces), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


async def _events(pieces: AsyncIterator[str | Answer]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            if isinstance(piece, str):
                yield _event("piece", json.dumps({"text": piece}).encode())
            else:
                yield _event("answer", rendered(piece))
    except MemgraphEngineError as error:
        status, detail = described(error)
        yield _event("problem", json.dumps(document(status, detail, type(error).__name__)).encode())
    except Refused as error:
        yield _event("problem", json.dumps(document(error.status, error.detail)).encode())


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


@router.post("/v1/reflect", **answers("reflect", Reflection))
async def reflect(body: bodies.OutcomeBody, asked: Writing) -> Response:
    """Say what an answer made of the notes that were shown for it; how useful each has proved is kept."""
    return await asked(lambda memory, own: memory.reflect(body.question, body.shown, body.answer, **own))


@router.post("/v1/blocks", **answers("blocks", {"blocks": list[Block]}))
async def blocks(body: bodies.NearestBody, asked: Reading) -> Response:
    """Return the blocks nearest to a question."""
    return await asked(lambda memory, own: {"blocks": memory.blocks(**body.given(), **own)})


@router.post("/v1/claims", **answers("claims", {"claims": list[Claim]}))
async def claims(body: bodies.AboutBody, asked: Reading) -> Response:
    """Return claims, each with the notes that support it: on something, or those to be trusted most."""
    return await asked(lambda memory, own: {"claims": memory.claims(**body.given(), **own)})
