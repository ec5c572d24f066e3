"""`memgraph-engine stats`."""

from typing import TYPE_CHECKING

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from memgraph_engine.model.result import Stats


def stats(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Count what a memory holds."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        counts = memory.stats(**owner)
    if as_json:
        show.document(counts)
        return
    notes = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.notes.items()))
    show.facts(
        show.console(),
        {
            "scope": counts.scope,
            "language": counts.language,
            "embedder": counts.model,
            "notes": notes or "0",
            "former versions": f"{counts.past:,}",
            "sources": f"{counts.sources:,}",
            "sessions": f"{counts.sessions:,}",
            "keywords": f"{counts.keywords:,}",
            "keyword pairs": f"{counts.pairs:,}",
            "topics": f"{counts.topics:,}",
            "blocks": f"{counts.blocks:,}" if counts.blocks else "",
            "claims": f"{counts.claims:,}" if counts.claims else "",
            "shared claims": _shared(counts),
            "decisions": f"{counts.decisions:,}",
            "profiles": f"{counts.attributes:,} statements" if counts.attributes else "",
            "counted use": f"{counts.used:,} notes" if counts.used else "",
            "retrievals": f"{counts.retrievals:,}" if counts.retrievals else "",
        },
    )


def _shared(counts: "Stats") -> str:
    if counts.withholds_claims:
        return "withheld"
    return f"{counts.shared_claims:,}" if counts.shares_claims else ""
