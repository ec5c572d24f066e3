"""Leases: one holder at a time, among all processes of all machines, by the server's clock."""

from memgraph_engine.graph.database import Database


def acquire(db: Database, name: str, holder: str, *, seconds: float) -> bool:
    """Take or extend a lease; False while another holds it."""
    return bool(
        db.write(lambda tx: tx.run("leases/acquire", name=name, holder=holder, milliseconds=int(seconds * 1000)))
    )


def release(db: Database, name: str, holder: str) -> None:
    """Give a lease back; nothing happens if it is held no more."""
    db.write(lambda tx: tx.run("leases/release", name=name, holder=holder))
