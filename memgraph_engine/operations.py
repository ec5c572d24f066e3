"""The operations of a memory: each public method of `Memory`, and what it is called on each surface.

Its parameters, their types and defaults, what it returns and what is said of it are the method's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgraph_engine.model.key import Right  # not loaded, so that the command line's help is fast


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of Memory, by its name, and the right that a key needs for it."""

    name: str
    right: "Right"
    rest: str = ""
    """Its route; the first argument stands in the address where that has an {id}, the others in the body or query."""
    cli: str = ""
    """Its command."""
    mcp: str = ""
    """Its tool."""
    listed: str = ""
    """What a list or number that the method returns is called in an answer, or else the id that it takes."""
    whole: bool = False
    """It is on no single memory: REST takes a key of the whole tenant, and no arguments."""
    looks: bool = False
    """It changes nothing, though the right is not to read."""
    note: str = ""
    """What REST says of it beside the method's first sentence."""

    def answer(self, found: object, given: Mapping[str, object]) -> object:
        """Return what a surface answers: an object, also where the method found none."""
        if not self.listed:
            return found
        return {self.listed: next(iter(given.values())) if found is None else found}

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.right == "read" or self.looks


_ASKING = (
    Operation("search", "read", "POST /v1/search", "search", "search"),
    Operation(
        "context",
        "read",
        "POST /v1/context",
        "context",
        "context",
        note="The `line` of each entry, and `general`, are what `add` takes as `shown`.",
    ),
    Operation("prompt", "read", "POST /v1/prompt", "prompt"),
    Operation("answer", "read", "POST /v1/answer", note="Without a model `text` is null, and `fallbacks` says why."),
    Operation("answer_stream", "read", "POST /v1/answer/stream", "ask"),
    Operation("reflect", "write", "POST /v1/reflect", "reflect", "reflect"),
    Operation("anchors", "read", "POST /v1/anchors", "anchors", listed="anchors"),
    Operation("blocks", "read", "POST /v1/blocks", "blocks search", listed="blocks"),
    Operation("claims", "read", "POST /v1/claims", "claims list", listed="claims"),
)
_LOOKING = (
    Operation(
        "get_all",
        "read",
        "GET /v1/notes",
        "list",
        note="`next` is null on the last; it is what the next page is `after`.",
    ),
    Operation("get", "read", "GET /v1/notes/{id:path}", "get", "fetch"),
    Operation("source", "read", "GET /v1/sources/{id:path}", "source"),
    Operation("history", "read", "GET /v1/history/{id:path}", "history", listed="versions"),
    Operation("explain", "read", "GET /v1/explain/{id:path}", "explain", "explain"),
    Operation("decisions", "read", "GET /v1/decisions", "decisions", "decisions", listed="decisions"),
    Operation("profile", "read", "GET /v1/profile", "profile", "profile"),
    Operation("facts", "read", "GET /v1/facts", "facts", "facts", listed="facts"),
    Operation("sessions", "read", "GET /v1/sessions", "sessions", listed="sessions"),
    Operation("topics", "read", "GET /v1/topics", "topics list", "topics", listed="topics"),
    Operation("topic", "read", "GET /v1/topics/{id}", "topics show"),
    Operation("topic_ties", "read", "GET /v1/topic-ties", "topics ties", listed="ties"),
    Operation("topic_runs", "read", "GET /v1/topic-runs", "topics runs", listed="runs"),
    Operation("outline", "read", "GET /v1/outline", "blocks outline", listed="blocks"),
    Operation("block_tree", "read", "GET /v1/block-tree", "blocks list", listed="blocks"),
    Operation("block_runs", "read", "GET /v1/block-runs", "blocks runs", listed="runs"),
    Operation("block", "read", "GET /v1/blocks/{id}", "blocks show"),
    Operation("claim", "read", "GET /v1/claims/{id}", "claims show"),
    Operation("stats", "read", "GET /v1/stats", "stats"),
    Operation("cost", "read", "GET /v1/cost", "cost", listed="days"),
    Operation("verify", "read", "GET /v1/verify", "verify", listed="faults"),
    Operation("users", "read", "GET /v1/users", "users", listed="users", whole=True),
    Operation("tenants", "read", cli="tenants list", whole=True),
    Operation("health", "read", "GET /v1/health", "health", whole=True),
    Operation("export", "read", cli="export"),
    Operation("embedder", "read", cli="embedder status", whole=True),
)
_WRITING = (
    Operation("add", "write", "POST /v1/messages", "add", "remember"),
    Operation("add_many", "write", "POST /v1/messages/batch"),
    Operation("ingest", "write", cli="ingest"),
    Operation("import_", "write", cli="import file"),
    Operation("process", "write", "POST /v1/process", "process"),
    Operation("update", "write", "PUT /v1/notes/{id:path}", "update", "update"),
    Operation("delete_all", "write", "DELETE /v1/notes", "delete"),
    Operation("delete", "write", "DELETE /v1/notes/{id:path}", "delete", "delete"),
    Operation("undo", "write", "POST /v1/decisions/{id}/undo", "undo", "undo"),
    Operation("untie", "write", "POST /v1/untie", "untie"),
    Operation("set_profile", "write", "PUT /v1/profile", "profile"),
    Operation("pin", "write", "PUT /v1/pins/{id:path}", "pin", "pin"),
    Operation("unpin", "write", "DELETE /v1/pins/{id:path}", "unpin", "unpin"),
    Operation("set_policy", "write", "PUT /v1/policies/{id:path}", "policy set"),
    Operation("apply_policies", "write", "POST /v1/apply-policies", "policy apply"),
    Operation("restore", "write", "POST /v1/restore/{id:path}", "restore", "restore"),
    Operation("end_session", "write", "POST /v1/end-session/{id:path}", "end-session"),
    Operation("limit", "write", cli="limit"),
    Operation("evolve", "write", "POST /v1/evolve", "evolve"),
    Operation("evict", "write", "POST /v1/evict", "evict"),
    Operation("consolidate", "write", "POST /v1/consolidate", "claims consolidate"),
    Operation("share_claims", "write", cli="claims share"),
    Operation("rebuild_topics", "write", "POST /v1/topics/rebuild", "topics rebuild"),
    Operation("rebuild_all_topics", "write", cli="topics rebuild"),
    Operation("rebuild_blocks", "write", "POST /v1/blocks/rebuild", "blocks rebuild"),
    Operation("render", "write", cli="render", listed="rendered"),
    Operation("change_embedder", "write", cli="embedder change", whole=True),
    Operation("rollback_embedder", "write", cli="embedder rollback", whole=True),
)
_ERASING = (
    Operation(
        "forget",
        "forget",
        "POST /v1/erasures/plans",
        "forget",
        "forget",
        looks=True,
        note="`erase` takes the plan's id, for a quarter of an hour.",
    ),
    Operation(
        "erase",
        "forget",
        "POST /v1/erasures",
        "forget",
        "erase",
        note="Where everything of a user goes, so do the user's keys.",
    ),
    Operation("sweep", "forget", "POST /v1/sweep", "sweep"),
    Operation("receipts", "forget", "GET /v1/receipts", "receipts", listed="receipts", whole=True, looks=True),
    Operation(
        "verify_erasure",
        "forget",
        "POST /v1/receipts/verify",
        "verify-erasure",
        listed="faults",
        whole=True,
        looks=True,
    ),
    Operation("holds", "forget", "GET /v1/holds", "hold", listed="holds", looks=True),
    Operation("hold", "forget", "POST /v1/holds", "hold"),
    Operation("release", "forget", "DELETE /v1/holds/{id}", "release", listed="released"),
)
OPERATIONS: Mapping[str, Sequence[Operation]] = {
    "asking": _ASKING,
    "looking up": _LOOKING,
    "writing": _WRITING,
    "erasing": _ERASING,
}
"""All of them, by what they are for."""
