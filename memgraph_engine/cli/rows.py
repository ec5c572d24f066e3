"""The commands that call a method and show its result; how that looks is a matter of its type (`display`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, Literal

from memgraph_engine.cli.command import Target, on_memory, on_tenant
from memgraph_engine.cli.options import MANY, Budget, Considered, History, NoteId, Question
from memgraph_engine.interface.defaults import BLOCKS, CLAIMS, FACTS, NEWEST, OUTLINE, TOP_K
from memgraph_engine.interface.filters import NoteFilters, SearchFilters
from memgraph_engine.operations import OPERATIONS

_NOTHING = "Nothing found."
_METHODS = {one.cli: one for some in OPERATIONS.values() for one in some}


@dataclass(frozen=True, slots=True)
class Row:
    """A command: its help, and the arguments of its method."""

    about: str
    takes: Mapping[str, Any] = field(default_factory=dict)
    """Each by a line, by an annotation, or by that and its default (`options.described`)."""
    method: str = ""
    """Its path, where the table of operations doesn't tell it."""
    done: str = ""
    """What is said of the decision that it made."""
    none: str = ""
    """What is said where it found nothing."""
    again: str = ""
    """The command that makes what was looked for."""
    asking: bool = False
    """Whether the shared memory is asked for a user who was never written to."""
    erased: bool = False
    """Whether it tells of users too of whom all was erased."""


def command(name: str) -> Callable[..., None]:
    """Return the command of a row."""
    row, one = ROWS[name], _METHODS.get(name)
    whole = one is not None and one.whole

    def run(on: Target, filters: Any = None, **given: Any) -> Iterator[object]:
        memory = on.connect() if whole or row.erased else on.memory(asking=row.asking)
        own: Mapping[str, object] = {} if whole else on.owner
        found = attrgetter(one.name if one else row.method)(memory)(**given, **(filters or {}), **own)
        if row.done:
            return on.decided(row.done.format(**given, made=found), found)
        return on.shown(found, row.none, row.again)

    run.__doc__ = row.about
    takes = [Parameter("on", Parameter.KEYWORD_ONLY), *(_parameter(*one) for one in row.takes.items())]
    run.__signature__ = Signature(takes)  # type: ignore[attr-defined]
    return (on_tenant if whole else on_memory)(run)


def _parameter(name: str, told: Any) -> Parameter:
    kind, default = told if isinstance(told, tuple) else (told, Parameter.empty)
    annotation = Annotated[str, kind] if isinstance(kind, str) else kind
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _option(line: str) -> tuple[Any, None]:
    return Annotated[str | None, line], None


def _switch(line: str) -> tuple[Any, bool]:
    return Annotated[bool, line], False


def _number(line: str, default: int) -> tuple[Any, int]:
    return Annotated[int, line, MANY], default


_NOTE, _QUESTION = {"id": NoteId}, {"question": Question}
_RUNS = {"limit": _number("--limit -n N: How many, at most.", NEWEST)}
_CLAIMS = {"k": _number("N: Claims, at most.", CLAIMS)}
_DRY_RUN = {"dry_run": _switch("Only tell what would change.")}
_WHEN = {
    "since": _option("TIME: Only what left then or later, ISO 8601."),
    "until": _option("TIME: Only what left then or before, ISO 8601."),
}
ROWS: Mapping[str, Row] = {
    "context": Row(
        "Print what the memory holds on a question.\n\nIts lines are numbered and dated, for the prompt of a model. "
        "A user's question reads the tenant's shared memory too.",
        {
            "question": Question,
            "budget": (Budget, None),
            "top_k": (Considered, TOP_K),
            "by": (
                Annotated[Literal["notes", "blocks"], "What finds the notes: a search, or the nearest blocks."],
                "notes",
            ),
            "claims": _switch("Add claims on what the question names; without filters."),
            "history": (History, ""),
            "filters": SearchFilters,
        },
        asking=True,
    ),
    "prompt": Row(
        "Print the messages to give a model for a question.",
        {
            "question": Question,
            "session": (Annotated[str, "ID: The conversation that goes on, if there is one."], ""),
            "system": (Annotated[str, "TEXT: What stands in front of all else."], ""),
            "window": (
                Annotated[int | None, "TOKENS: The model's; else the setting `prompt.window`.", {"min": 1}],
                None,
            ),
            "top_k": (Considered, TOP_K),
            "include": (Annotated[list[str], "POLICY: Also notes of this policy, which are shown if asked for."], ()),
        },
        asking=True,
    ),
    "anchors": Row("Show the keywords through which a question finds notes.", _QUESTION, none=_NOTHING, asking=True),
    "get": Row("Show a note with its fields and sources.", _NOTE),
    "list": Row("List notes, oldest first; all without options.", {"filters": NoteFilters}, none=_NOTHING),
    "source": Row("Show a message or passage as it came.", {"id": "ID: The id of a source."}),
    "history": Row("Show all versions of a note, oldest first.", _NOTE),
    "explain": Row("Tell how a note came to be what it is, and its ties.", _NOTE),
    "decisions": Row(
        "List what changed a memory, newest first.",
        {**_RUNS, "before": _option("TIME: Only decisions made until then, ISO 8601; a day means its end.")},
    ),
    "facts": Row(
        "List what is true now of a user, or of what has a name.\n\nEach line is a clause of what was said, behind the "
        "day since when it holds; what was said last comes first.",
        {
            "about": (Annotated[str, "--about NAME: Somebody or something; else what the user stated."], ""),
            "former": _switch("Also what later statements replaced, with its end."),
            "limit": _number("--limit -n N: How many facts, at most.", FACTS),
        },
        none="Nothing is known.",
    ),
    "sessions": Row("List the sessions and documents of a memory, latest first.", none="There are no sessions."),
    "stats": Row("Count what a memory holds."),
    "cost": Row(
        "Show what chat models cost a memory, by day (UTC).",
        {"since": _option("TIME: The first day, ISO 8601.")},
        none="No chat model was asked.",
    ),
    "users": Row("List the users of a tenant, each with the number of notes.", none="The tenant has no users."),
    "tenants": Row("List all tenants, for those who run the database.", none="The database has no tenants."),
    "update": Row(
        "Give a note a new text; `history` keeps the old one.",
        {**_NOTE, "text": "TEXT: The new text."},
        done="Updated note {made.note}",
    ),
    "undo": Row(
        "Take a decision back.\n\nNotes that it created go, notes that it changed are as before.",
        {
            "decision": "DECISION: A decision's id, as `decisions` lists it.",
            "cascade": _switch("First undo the later decisions that changed what it made; `decisions` lists them."),
        },
        done="Undid decision {made.undoes}",
    ),
    "untie": Row(
        "Take back the tie between two notes, which stay.\n\nWhat was taken for replaced is active again.",
        {"note": "NOTE: A note's id, as `explain` lists it.", "other": "OTHER: The id of the note that it is tied to."},
        done="Untied notes {note} and {other}",
    ),
    "pin": Row("Keep a note for ever, whatever its policy.", _NOTE, done="Pinned {id}"),
    "unpin": Row("Let a pinned note end as its policy says, perhaps at once.", _NOTE, done="Unpinned {id}"),
    "restore": Row("Bring back a note that expired, for a time anew.", _NOTE, done="Restored {id}"),
    "end-session": Row(
        "End a session, and what lives only as long.\n\nIts policy says what does. `undo` brings it back.",
        {"session": "SESSION: A session's id, as `sessions` lists it."},
        done="Ended session {session}",
    ),
    "sweep": Row(
        "Archive what has expired, and erase what is to be erased.\n\n`undo` brings back what is archived. Policies "
        "say what is erased by now. What has expired can't be read in any case; a worker sweeps by itself."
    ),
    "evict": Row(
        "Sum up the coldest notes of a memory above its cap.\n\n`undo` brings them back. A worker does so by itself. "
        "The cap is the setting lifecycle.cap, or that of `limit`.",
        _DRY_RUN,
    ),
    "evolve": Row(
        "Tie and tag new notes by what is near them.\n\nWith a chat model the contexts of the notes near them are "
        "written anew too. `undo` takes a change back. The setting lifecycle.evolve lets a worker do so by itself."
    ),
    "receipts": Row("List the receipts of a tenant's erasures, oldest first.", none="Nothing was erased."),
    "policy set": Row(
        "Give a note a policy, which `policy apply` leaves it.",
        {"note": NoteId, "policy": "POLICY: A class of the policy file."},
        done="Gave {note} the policy {policy}",
    ),
    "policy apply": Row("Give all notes the policies of the file as it is now.\n\n`undo` takes it back.", _DRY_RUN),
    "audit about": Row(
        "Tell what a memory knows of something, and why.\n\nIt is of all policies, and what summaries stand for: with "
        "sources, decisions, and the holds that keep it.",
        {"topic": "TOPIC: What it is about, in words."},
        "audit.about",
        none="Nothing is known of it.",
        asking=True,
    ),
    "audit deleted": Row(
        "Tell what left a memory, when and why, newest first.",
        {**_WHEN, "rule": _option("RULE: Only by this kind of decision (delete, expire …), or rule of an erasure.")},
        "audit.deleted",
        none="Nothing was deleted.",
        erased=True,
    ),
    "audit changed": Row("Tell what each decision changed of a note, oldest first.", _NOTE, "audit.changed"),
    "topics list": Row(
        "List the topics, the largest first.", none="There are no topics. To find them", again="topics rebuild"
    ),
    "topics show": Row("Show a topic with all of its keywords.", {"id": "ID: A topic's id."}),
    "topics ties": Row("List which topics occur together in notes.", none="No topics occur together."),
    "topics runs": Row("List the last runs that found topics.", _RUNS, none="The topics were never looked for."),
    "blocks show": Row("Show a block with its fields, and its parts.", {"id": "ID: A block's id."}),
    "blocks outline": Row(
        "Show a whole memory in a few blocks, which differ most.",
        {"nodes": _number("N: Blocks, at most.", OUTLINE)},
        none="There are no blocks. To build them",
        again="blocks rebuild",
    ),
    "blocks search": Row(
        "Find the blocks nearest to a question.",
        {**_QUESTION, "k": _number("N: Blocks, at most.", BLOCKS)},
        none=_NOTHING,
        asking=True,
    ),
    "blocks runs": Row("List the last runs that built blocks.", _RUNS, none="The blocks were never built."),
    "claims consolidate": Row("Look for claims in what is new or has changed.\n\nEach note is read once."),
    "claims list": Row(
        "List claims, those to be trusted most first.",
        _CLAIMS,
        none="There are no claims. To look for them",
        again="claims consolidate",
    ),
    "claims about": Row(
        "Find the claims that name something, then the nearest.",
        {"about": "TEXT: What claims are wanted on.", **_CLAIMS},
        "claims",
        none=_NOTHING,
        asking=True,
    ),
    "claims show": Row("Show a claim with the notes that support it.", {"id": "ID: A claim's id."}),
}
"""All of them, by their names."""
