"""Neo4j Browser as this server serves it: it talks to this machine, and to nobody else."""

import os
import zipfile
from pathlib import Path

from memgraph_engine.errors import LocalServerError

# The page asks for fonts, release news and usage statistics from elsewhere as soon as it opens, before any
# setting of the server reaches it. The browser itself is told to let it ask nobody but this machine.
_POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; "
    "connect-src 'self' ws://127.0.0.1:* ws://localhost:* http://127.0.0.1:* http://localhost:*"
)
_PAGE = "browser/index.html"
_META = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'


def quiet_copy(lib: Path) -> Path:
    """Return a copy of the Browser's jar whose page reaches this machine only, made beside `lib` if need be."""
    (jar,) = lib.glob("neo4j-browser-*.jar")
    copy = lib.with_name(f"{lib.name}-{jar.stem}-local.jar")
    if copy.exists():
        return copy
    part = copy.with_suffix(f".{os.getpid()}.part")
    try:
        with zipfile.ZipFile(jar) as given, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
            for item in given.infolist():
                content = given.read(item)
                if item.filename == _PAGE:
                    content = content.replace(b"<head>", b"<head>" + _META.encode(), 1)
                made.writestr(item, content)
        part.replace(copy)
    except OSError as error:
        raise LocalServerError(
            f"{copy} can't be written: {error.strerror}. Free space, or set another cache."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return copy
