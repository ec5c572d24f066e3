"""Rewrite a lock with the exact files its roots need today: `python config/artifacts/relock.py neo4j`.

A lock lists its roots in its head, one a line:

    # with COORDINATE           the artifact and everything it needs at run time
    # only COORDINATE           the artifact alone
    # without GROUP:ARTIFACT    a dependency to leave out
    # wheel NAME VERSION PLATFORM   a wheel of Python's package index, which pip fetches
    # unpack MEMBER NAME        a file inside the lock's one jar or wheel, and the name it gets

To move to another version, edit those lines and run this. Each further line is
`SHA-256 BYTES GROUP:ARTIFACT:VERSION[:CLASSIFIER]`, `SHA-256 BYTES pip:NAME:VERSION:PLATFORM FILE` or
`SHA-256 BYTES !MEMBER NAME`.

POM files are resolved by jgo, in pure Python and one after another (1 to 3 minutes for Neo4j's 600); they
and the jars land in jgo's usual cache, the user's local Maven repository. MEMGRAPH_ENGINE_MAVEN_URL or the
setting `maven_url` names another repository than Maven Central.
"""

import hashlib
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from jgo import MAVEN_CENTRAL_URL
from jgo.maven import Artifact, MavenContext

from memgraph_engine.artifacts import pip_download
from memgraph_engine.settings import Settings


def artifacts(roots: list[str], context: MavenContext) -> set[Artifact]:
    """Return the roots' artifacts and, for those marked `with`, their runtime dependencies."""
    alone = {context.create_dependency(r.split()[1]).artifact for r in roots if r.startswith("only ")}
    whole = [context.create_dependency(r.split()[1]) for r in roots if r.startswith("with ")]
    if not whole:
        return alone
    inputs, needed = context.resolver.resolve(whole)
    left_out = {r.split()[1] for r in roots if r.startswith("without ")}
    wanted = [d for d in needed if f"{d.groupId}:{d.artifactId}" not in left_out]
    runtime = [d for d in wanted if d.scope in (None, "compile", "runtime") and not d.optional]
    return alone | {d.artifact for d in [*inputs, *runtime]}


def line(content: bytes, source: str) -> str:
    """Return a file's line in the lock."""
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {source}"


def artifact_line(artifact: Artifact) -> str:
    """Fetch one artifact and return its line in the lock."""
    parts = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return line(artifact.resolve().read_bytes(), ":".join(p for p in parts if p))


def wheel(roots: list[str], folder: Path) -> tuple[Path, str] | None:
    """Let pip fetch the wheel that the roots name; return its file, and its line in the lock."""
    named = [":".join(r.split()[1:]) for r in roots if r.startswith("wheel ")]
    if not named:
        return None
    file = pip_download(named[0], folder)
    return file, f"{line(file.read_bytes(), f'pip:{named[0]}')} {file.name}"


def member_lines(roots: list[str], archive_file: Path) -> list[str]:
    """Return the lines of the files to unpack from the jar or wheel."""
    members = [r.split()[1:] for r in roots if r.startswith("unpack ")]
    with zipfile.ZipFile(archive_file) as archive:
        return [line(archive.read(member), f"!{member} {name}") for member, name in members]


def relock(path: Path, maven_url: str) -> int:
    """Rewrite the lock in place; returns how many files it names."""
    head = [text for text in path.read_text().splitlines() if text.startswith("#")]
    roots = [text[1:].strip() for text in head]
    with TemporaryDirectory() as folder:
        if found := wheel(roots, Path(folder)):
            return write(path, head, [found[1], *member_lines(roots, found[0])])
    context = MavenContext(remote_repos={"central": maven_url.rstrip("/")}, timeout=60)
    jars = sorted(artifacts(roots, context), key=str)
    with ThreadPoolExecutor(8) as pool:
        return write(path, head, [*pool.map(artifact_line, jars), *member_lines(roots, jars[0].resolve())])


def write(path: Path, head: list[str], lines: list[str]) -> int:
    """Write a lock; returns how many files it names."""
    path.write_text("\n".join([*head, *lines, ""]))
    return len(lines)


if __name__ == "__main__":
    url = Settings.load().maven_url or MAVEN_CENTRAL_URL
    for name in sys.argv[1:]:
        lock = Path(__file__).with_name(f"{name}.lock")
        sys.stdout.write(f"{lock.name}: {relock(lock, url)} files\n")
