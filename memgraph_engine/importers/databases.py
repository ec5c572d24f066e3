"""Databases of SQLite that another program wrote: opened to be read, and never changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from memgraph_engine.errors import InvalidInput


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database while the block runs; raises InvalidInput where it can't be read, or is damaged.

    Texts come as bytes, since they may not be UTF-8.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} can't be read as a database of SQLite: {error}.") from None


def columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the tables of a database, each with the names of its columns."""
    names = [_text(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = connection.execute
    return {name: {_text(row[0]) for row in found("SELECT name FROM pragma_table_xinfo(?)", [name])} for name in names}


def _text(given: bytes) -> str:
    return given.decode(errors="replace")
