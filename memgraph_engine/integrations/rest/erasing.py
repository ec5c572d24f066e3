"""Routes that erase for good, or keep from it: what is planned is told first, and confirmed by its id."""

from fastapi import APIRouter
from starlette.responses import Response

from memgraph_engine.client import Memory
from memgraph_engine.integrations.rest import bodies
from memgraph_engine.integrations.rest.asked import Asked, Forgetting, ForgettingOfTenant
from memgraph_engine.integrations.rest.looking import Id
from memgraph_engine.integrations.rest.replies import answers
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.result import ErasurePlan, ErasureReceipt, Hold

router = APIRouter(tags=["erasing"])


@router.post("/v1/erasures/plans", **answers("forget", ErasurePlan))
async def forget(body: bodies.MeantBody, asked: Forgetting) -> Response:
    """Plan to erase what is meant; nothing is written. `erase` takes the plan's id, for a quarter of an hour."""
    return await asked(lambda memory, own: _planned(asked, memory, own, body))


def _planned(asked: Asked, memory: Memory, own: Whose, body: bodies.MeantBody) -> ErasurePlan:
    plan = memory.forget(**body.given(), **own)
    asked.access.plans.keep(plan)
    return plan


@router.post("/v1/erasures", **answers("erase", ErasureReceipt))
async def erase(body: bodies.ConfirmedBody, asked: Forgetting) -> Response:
    """Carry out a plan, for good; return the receipt. Where everything of a user goes, so do the user's keys."""
    return await asked(lambda memory, own: memory.erase(asked.access.plans.take(body.plan, asked.tenant, own)))


@router.get("/v1/receipts", **answers("receipts", {"receipts": list[ErasureReceipt]}), tags=["of the tenant"])
async def receipts(asked: ForgettingOfTenant) -> Response:
    """Return the receipts of all erasures of the tenant; it takes a key of the whole tenant."""
    return await asked(lambda memory, _own: {"receipts": memory.receipts()})


@router.post("/v1/receipts/verify", **answers("verify_erasure", {"faults": list[str]}), tags=["of the tenant"])
async def verify_erasure(asked: ForgettingOfTenant) -> Response:
    """Check the chain of the tenant's receipts; it takes a key of the whole tenant."""
    return await asked(lambda memory, _own: {"faults": memory.verify_erasure()})


@router.get("/v1/holds", **answers("holds", {"holds": list[Hold]}))
async def holds(asked: Forgetting) -> Response:
    """Return what is held of a memory."""
    return await asked(lambda memory, own: {"holds": memory.holds(**own)})


@router.post("/v1/holds", **answers("hold", Hold))
async def hold(body: bodies.ReasonBody, asked: Forgetting) -> Response:
    """Keep a memory, or a session or a source of it, from being erased."""
    return await asked(lambda memory, own: memory.hold(**body.given(), **own))


@router.delete("/v1/holds/{id}", **answers("release", {"released": str}))
async def release(id: Id, asked: Forgetting) -> Response:  # noqa: A002
    """End a hold."""
    return await asked(lambda memory, own: _released(memory, id, own))


def _released(memory: Memory, id: str, own: Whose) -> dict[str, str]:  # noqa: A002
    memory.release(id, **own)
    return {"released": id}
