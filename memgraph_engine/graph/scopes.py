"""Scopes: their language, their sums, and the version by which writers notice each other."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.graph import keys, leases, schema
from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.rows import made
from memgraph_engine.model.result import Session, Tenant, User
from memgraph_engine.model.scope import Scope

_PAGE = 1000


def open_scope(db: Database | Runner, scope: Scope, language: str) -> tuple[str, int]:
    """Make the scope unless it is there, and return its language and version."""
    run = db.commit if isinstance(db, Database) else db.run
    rows = run("scopes/open", scope=scope.name, tenant=scope.tenant, user=scope.user or "", language=language)
    return rows[0]["language"], rows[0]["version"]


@dataclass(frozen=True, slots=True)
class ScopeState:
    """A scope's version, language, and number of readable notes, with the `terms` of their words and contexts.

    Decisions from before `decisions_since` may have been pruned; None where none were. `cap` is its own, None for that
    of the settings.
    """

    version: int
    language: str
    notes: int
    decisions_since: datetime | None = None
    cap: int | None = None
    terms: int = 0

    def size(self, dimensions: int) -> int:
        """Return about how many bytes its notes take: two vectors each, and their texts (`scopes/crowded`)."""
        return 8 * (self.notes * dimensions + self.terms)


def state(db: Database, scope: str) -> ScopeState | None:
    """Return the scope's version and language; None if there is no such scope. Raises StoreMismatch (`schema.told`)."""
    return schema.told(db, "scopes/read", scope, ScopeState)


def settle(db: Database, scope: str, statuses: Sequence[str]) -> None:
    """Work out anew when the first of the notes of these statuses ends: what was before has been swept."""
    db.commit("scopes/settle", scope=scope, statuses=statuses)


def folders(tx: Runner, scope: str) -> dict[str, str]:
    """Return where the folders lay that were ingested, by their ids."""
    rows = tx.run("scopes/folders", scope=scope)
    return dict(json.loads(rows[0]["folders"] or "{}")) if rows else {}


def keep_folders(tx: Runner, scope: str, folders: Mapping[str, str]) -> None:
    """Keep where the folders lay that were ingested."""
    tx.run("scopes/keep_folders", scope=scope, folders=json.dumps(dict(folders), ensure_ascii=False))


def tenants(tx: Runner) -> list[Tenant]:
    """Return all tenants of the database, by name."""
    return [Tenant(**row) for row in tx.run("scopes/tenants")]


def users(tx: Runner, tenant: str) -> list[User]:
    """Return the users of a tenant, by name."""
    return [User(**row) for row in tx.run("scopes/users", tenant=tenant)]


def sessions(tx: Runner, scope: str) -> list[Session]:
    """Return the sessions of a scope, the latest first, those without a time last."""
    return [made(Session, row) for row in tx.run("sources/sessions", scope=scope)]


def of_tenant(tx: Runner, tenant: str) -> list[str]:
    """Return the names of all scopes of a tenant."""
    return [row["scope"] for row in tx.run("scopes/of_tenant", tenant=tenant)]


def importing(scope: str) -> str:
    """Return the name under which an import stands until it is whole: no user has one with two slashes.

    >>> importing("acme/ana")
    'acme/ana/importing'
    """
    return f"{scope}/importing"


def import_lease(scope: str) -> str:
    """Return the name of the lease under which one process imports into a scope."""
    return f"import {scope}"


def left(tx: Runner, scope: str) -> bool:
    """Tell whether there are nodes of an import into a scope that was cut off, or still runs."""
    return bool(tx.run("copy/members", scope=importing(scope), limit=1))


def cut_off(tx: Runner, scope: str) -> bool:
    """Tell whether an import into a scope was cut off, and left nodes."""
    name = import_lease(scope)
    if not left(tx, scope) or any(one.name == name and not one.lapsed for one in leases.begun(tx, name)):
        return False
    return left(tx, scope)  # looked for again: it may have ended meanwhile


def imports_cut_off(tx: Runner, tenant: str | None) -> dict[str, datetime]:
    """Return the scopes of a tenant, or of all, into which an import was cut off, each with about when."""
    prefix = import_lease("" if tenant is None else Scope(tenant).name)
    return {one.name.removeprefix(import_lease("")): one.until for one in leases.begun(tx, prefix) if one.lapsed}


def clear(db: Database, scope: str) -> None:
    """Remove what an import left that was cut off; one that runs is left alone."""
    with leases.held_if_free(db, import_lease(scope)) as mine:
        if mine:
            purge(db, importing(scope), whole=False)


def purge(db: Database, scope: str, *, whole: bool = True) -> None:
    """Really remove what a scope holds, in batches; the `whole` of it with itself, and with what was being imported.

    Of the whole no user is told any claim from the beginning on, also where it is cut off.
    """
    if whole:
        db.commit("claims/share", scope=scope, shares=None, withholds=True)
    for name in (scope, importing(scope)) if whole else (scope,):
        db.commit("scopes/purge", scope=name, rows=_PAGE, whole=whole)


def purge_tenant(db: Database, tenant: str) -> None:
    """Really remove everything of a tenant, in batches."""
    for scope in {*of_tenant(db, tenant), *imports_cut_off(db, tenant)}:
        purge(db, scope)
        db.commit("erasures/end", scope=scope, id=None)
    db.commit("receipts/purge", tenant=tenant)
    keys.remove(db, Scope(tenant))
