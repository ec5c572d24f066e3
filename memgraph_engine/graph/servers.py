"""Several servers: a catalogue says which tenant lives on which of them.

What is sent for a tenant goes where it lives (`Residence`). Each statement begins with a look at what that server says
of the tenant (Presence): so one that has gone there is told in the same round trip, and looks into the catalogue again.
"""

from collections.abc import Iterator
from dataclasses import replace

from memgraph_engine.errors import InvalidInput, NotFound, QueryFailed, StoreError, StoreMismatch
from memgraph_engine.forks import lock
from memgraph_engine.graph import schema, scopes
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.model.result import Tenant
from memgraph_engine.model.scope import Scope


class Servers:
    """The servers of a `catalogue`, each with one pool of connections. Safe to share between threads.

    Others that are connected to by now are given besides; `here` is where a client was that knew nothing of them. Where
    there are not `several`, it is a database as any other.
    """

    def __init__(self, catalogue: Database, *others: Database, here: str = "", several: bool = True) -> None:
        self.catalogue, self._here, self.several = catalogue, here, several
        self._open = {one.uri: one for one in (catalogue, *others)}
        self._lock = lock()

    def at(self, uri: str) -> Database:
        """Return the server of an address; raises a StoreError where it can't be used."""
        with self._lock:
            if uri not in self._open:
                self._open[uri] = self.catalogue.beside(uri)
            return self._open[uri]

    def known(self) -> list[Row]:
        """Return the servers {name, id, uri, drained, tenants: how many live there}, by name."""
        return self.catalogue.run("servers/known")

    def every(self) -> Iterator[Database]:
        """Yield what reaches each server."""
        return (self.at(one["uri"]) for one in self.known())

    def named(self, name: str) -> Database:
        """Return the server of a name; raises NotFound, and StoreMismatch where another database answers there."""
        known = {one["name"]: one for one in self.known()}
        if name not in known:
            raise NotFound(f"The catalogue at {self.catalogue.uri} has no server {name!r}, only {sorted(known)}.")
        db = self.at(known[name]["uri"])
        if [row["id"] for row in db.run("store/read")] != [known[name]["id"]]:
            raise StoreMismatch(
                f"At {db.uri} answers another database than {name!r} of the catalogue: say where that answers by "
                "`memgraph-engine servers add`. Nothing was done."
            )
        return db

    def emptiest(self, but: str = "") -> str:
        """Return the name of the server with the fewest tenants, of those that take some; raises StoreError."""
        some = [(one["tenants"], str(one["name"])) for one in self.known() if not one["drained"] and one["name"] != but]
        if not some:
            raise StoreError(
                f"The catalogue at {self.catalogue.uri} has no server that a tenant could live on: add one."
            )
        return min(some)[1]

    def drain(self, name: str) -> list[tuple[str, str]]:
        """Place no tenant on a server any more; return those that are there, and where they are on their way, or ''."""
        self.named(name)
        self.emptiest(but=name)
        self.catalogue.commit("servers/drain", name=name)
        rows = self.catalogue.run("servers/tenants", tenant=None)
        left = (row for row in rows if name in (row["server"], row["left"]))
        return [(row["name"], row["to"] or (row["server"] if row["left"] else "")) for row in left]

    def find(self, tenant: str) -> Row | None:
        """Return where a tenant lives, and how far a move is (`servers/tenants`); None for one that never came."""
        return next(iter(self.catalogue.run("servers/tenants", tenant=tenant)), None)

    def place(self, tenant: str, name: str) -> None:
        """Let a new tenant live on a server; raises InvalidInput for one that lives on another."""
        Scope(tenant)  # refuses what can't be one
        self.named(name)
        (there,) = self.catalogue.commit("servers/place", tenant=tenant, server=name)
        if there["server"] != name:
            raise InvalidInput(f"The tenant {tenant!r} lives on {there['server']!r} already: move it (`tenants move`).")

    def where(self, tenant: str) -> Database:
        """Return the server that a tenant lives on; a new one's is where the client was, else that with the fewest."""
        while not (found := self.find(tenant)):
            near = [one["name"] for one in self.known() if one["uri"] == self._here and not one["drained"]]
            self.catalogue.commit("servers/place", tenant=tenant, server=(near or [self.emptiest()])[0])
        return self.at(found["uri"])

    def of(self, tenant: str) -> Database:
        """Return a database that is a tenant's alone, wherever that lives."""
        return self.catalogue.of(1, Residence(self, tenant, self.where(tenant)))

    def tenants(self) -> list[Tenant]:
        """Return the tenants of all servers, by name."""
        held = {(db.uri, one.name): one for db in self.every() for one in scopes.tenants(db)}
        rows = self.catalogue.run("servers/tenants", tenant=None)
        found = ((row, held.get((row["uri"], row["name"]), Tenant(row["name"], 0, 0))) for row in rows)
        return [replace(one, server=row["server"], to=row["to"] or "") for row, one in found]

    def add(self, name: str, uri: str, catalogue: str) -> None:
        """Add a server that has a schema, with the tenants that lie there; `catalogue` is that one's own address."""
        db = self.at(uri)
        for kind in schema.OF_CATALOGUE:
            schema.make(self.catalogue, kind, {})
        schema.make(db, "schema/presence_tenant", {})
        (own,) = db.commit("store/identify")
        tenants = {one.name for one in scopes.tenants(db)} - {row["tenant"] for row in db.run("servers/gone")}

        def work(tx: Runner) -> None:
            if not tx.run("servers/add", name=name, id=own["id"], uri=uri, tenants=sorted(tenants)):
                raise InvalidInput(f"{uri} holds a tenant that lives on another server: nothing was added.")

        try:
            self.catalogue.write(work)
        except QueryFailed as error:
            if error.code != "Neo.ClientError.Schema.ConstraintValidationFailed":
                raise
            raise InvalidInput(
                f"The catalogue at {self.catalogue.uri} has another database as {name!r}, or that at {uri} by another "
                "name (`memgraph-engine servers list`): nothing was added."
            ) from None
        db.commit("servers/catalogue", catalogue=catalogue)

    def close(self) -> None:
        """Close the connections to all servers."""
        for one in self._open.values():
            one.close()


def servers_of(db: Database) -> Servers | None:
    """Return the servers of which one is a tenant's database; None for a database that stands alone."""
    return db.home.servers if isinstance(db.home, Residence) else None


class Residence:
    """Where a tenant lives by now, as far as is known here: at the database `at`."""

    def __init__(self, servers: Servers, tenant: str, at: Database) -> None:
        self.servers, self.tenant, self.at = servers, tenant, at

    def turn(self) -> None:
        """Look into the catalogue, and turn to where the tenant lives."""
        self.at = self.servers.where(self.tenant)
