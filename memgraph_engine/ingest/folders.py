"""What a folder or a repository holds: its files in a fixed order, and what is passed over and why."""

import os
import re
import subprocess
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.ingested import Fault, Remark, Skipped

_HIDDEN = "hidden"


@dataclass(frozen=True)
class File:
    """A file to read; `id` names the document that it holds."""

    path: Path
    id: str


@dataclass
class Folder:
    """A folder as it was found: `id` stands before the ids of its documents.

    `unlisted` are the ids of what it holds and was not looked at: it can't be read, is hidden, or is not its own.
    `parts` are the folders below it that were ingested before it, by their paths within it: their documents keep the
    ids that they have there.

    >>> folder = Folder(Path("/home/ana/notes"), "notes", {"boats": "my-boats"})
    >>> folder.name(Path("/home/ana/notes/trees/elm.md")), folder.name(Path("/home/ana/notes/boats/old/blue.md"))
    ('notes/trees/elm.md', 'my-boats/old/blue.md')
    """

    path: Path
    id: str
    parts: Mapping[str, str] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """What stands before the ids of its documents."""
        return [self.id, *self.parts.values()]

    def name(self, path: Path) -> str:
        """Return the id of a document by its path within the folder, the same on every system."""
        within = path.relative_to(self.path)
        part = next((one for one in (within, *within.parents) if one.as_posix() in self.parts), None)
        own = (self.id, within) if part is None else (self.parts[part.as_posix()], within.relative_to(part))
        return unicodedata.normalize("NFC", "/".join((own[0], *own[1].parts)))

    def file(self, document: str) -> Path:
        """Return where the file of a document of this folder lies, or lay."""
        roots = {self.id: ".", **{id: part for part, id in self.parts.items()}}
        id = max((one for one in roots if document.startswith(f"{one}/")), key=len)
        return self.path / roots[id] / document.removeprefix(f"{id}/")

    def saw(self, document: str) -> bool:
        """Tell whether the place of a document was looked at; a known part was if any file of it is listed."""
        if any(document == one or document.startswith(f"{one}/") for one in self.unlisted):
            return False
        part = next((id for id in self.parts.values() if document.startswith(f"{id}/")), None)
        return part is None or any(file.id.startswith(f"{part}/") for file in self.files)


def listed(
    paths: Sequence[Path],
    id: str | None,  # as the API calls it
    listing: Callable[[Path, str, Mapping[str, str]], Folder],
    places: Mapping[str, str] = MappingProxyType({}),
) -> list[File | Folder]:
    """Return the files and folders that were given; `listing` lists a folder, by its path, its id and its known parts.

    `id` names the only one; else a part of a folder that was ingested has the name that it has there (`places` tells
    where folders lay, by their ids), and anything else its own. What is below another path that is given comes with
    that. Raises InvalidInput for what is not there, where two would have one name, and where a folder and a part of it
    would.
    """
    if id is not None and len(paths) != 1:
        raise InvalidInput(f"An id names one file or folder; {len(paths)} are given.")
    found: dict[str, Path] = {}
    given = [_real(path) for path in paths]
    for path in (one for one, real in zip(paths, given, strict=True) if set(given).isdisjoint(real.parents)):
        name = unicodedata.normalize("NFC", id or _name(path, places))
        if not name:
            raise InvalidInput(f"{path} has no name; give it an id.")
        if name in found:
            raise InvalidInput(
                f"{found[name]} and {path} would have one name, {name!r}. Ingest the folder that holds both, or each "
                "alone with an id of its own."
            )
        if not path.exists():
            raise InvalidInput(f"{path} is no file or folder that can be read.")
        if name in places and _one_within_the_other(path.resolve(), Path(places[name])):
            raise InvalidInput(
                f"The memory knows {places[name]} as {name!r}, and {path} is a part of it or holds it. "
                + ("Leave out the id: a part keeps its path there." if id else "Give this one an id of its own.")
            )
        found[name] = path
    return [
        _each_once(listing(path, name, _parts(path, name, places))) if path.is_dir() else File(path, name)
        for name, path in found.items()
    ]


def _each_once(folder: Folder) -> Folder:
    """Leave out files whose id another one has: names that only the form of their letters tells apart (Unicode)."""
    first: dict[str, File] = {}
    for file in folder.files:
        if first.setdefault(file.id, file) is not file:
            reason = f"its name is that of {first[file.id].path.name!a} in another Unicode form; rename one of the two"
            folder.faults.append(Fault(str(file.path), 0, reason))
    folder.files = list(first.values())
    return folder


def _real(path: Path) -> Path:
    """Return where a path leads; raises InvalidInput for a link that leads to itself."""
    try:
        return path.resolve()
    except RuntimeError:
        raise InvalidInput(f"{path} is no file or folder that can be read: it is a link in a circle.") from None


def _one_within_the_other(one: Path, other: Path) -> bool:
    return one in other.parents or other in one.parents


def _parts(path: Path, name: str, places: Mapping[str, str]) -> dict[str, str]:
    """Return the ids of the known folders below the one of this name, by their paths within it."""
    real = path.resolve()
    below = {id: Path(at) for id, at in places.items() if id != name and real in Path(at).parents}
    return {at.relative_to(real).as_posix(): id for id, at in below.items()}


def _name(path: Path, places: Mapping[str, str]) -> str:
    real = path.resolve() if path.exists() else path
    for id, place in sorted(places.items(), key=lambda one: -len(one[1])):
        if Path(place) in (real, *real.parents):
            below = real.relative_to(place).as_posix()
            return id if below == "." else f"{id}/{below}"
    return Path(os.path.abspath(path)).name


def listing(
    path: Path,
    id: str,  # as the API calls it
    known: Callable[[Path], bool],
    parts: Mapping[str, str] = MappingProxyType({}),
) -> Folder:
    """List a folder with all that is below it; `known` tells the files that can be read by their kind.

    Links are not followed: what they lead to within the folder is read where it is.
    """
    folder = Folder(path, id, parts)
    waiting = [path]
    while waiting:
        below = waiting.pop()
        try:
            found = sorted(os.scandir(below), key=lambda entry: entry.name)
        except OSError as error:
            folder.faults.append(Fault(str(below), 0, f"the folder can't be read: {error.strerror}"))
            folder.unlisted.append(folder.name(below))
            continue
        for entry in found:
            one = Path(entry.path)
            if reason := _passed_over(entry, path, known):
                folder.skipped.append(Skipped(str(one), reason))
                folder.unlisted += [folder.name(one)] if reason == _HIDDEN else []
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(one)
            else:
                folder.files.append(File(one, folder.name(one)))
    folder.files.sort(key=lambda file: file.path.relative_to(path).parts)
    folder.skipped.sort(key=lambda one: one.file)
    return folder


def _passed_over(entry: "os.DirEntry[str]", root: Path, known: Callable[[Path], bool]) -> str:
    """Return why an entry of a folder is not read, '' if it is."""
    if entry.name.startswith("."):
        return _HIDDEN
    if entry.is_symlink():
        return link_reason(Path(entry.path), root)
    if entry.is_dir(follow_symlinks=False):
        return ""
    if not entry.is_file(follow_symlinks=False):
        return "no file"
    return "" if known(Path(entry.path)) else "of no known kind"


def link_reason(link: Path, root: Path) -> str:
    """Return why a link below a folder is not read."""
    try:
        target = link.resolve(strict=True)
    except FileNotFoundError:
        return "a link that leads nowhere"
    except (OSError, RuntimeError):
        return "a link in a circle"
    inside = root.resolve()
    if target != inside and inside not in target.parents:
        return "a link out of the folder"
    return (
        "a link in a circle"
        if target in link.parent.resolve().parents or target == link.parent.resolve()
        else ("a link to what is read where it is")
    )


_LARGEST = 1_000_000  # bytes
_START = 8000  # bytes, of which git takes as many to tell what is binary
_MADE = (".lock", "-lock.json", "-lock.yaml", ".min.js", ".min.css", ".map")
_FOLDERS = ("__pycache__", "node_modules")
_SECONDS = 60
_OWN = "a repository of its own"
# a repository's own settings name programs; none of them is run
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
_WALKED = "{why}: all files below it are read, also what git would ignore, but no hidden ones and no links"
_REFUSED = (
    "git does not list it, so it can't be told which files belong to it and which may hold secrets. Nothing of it was "
    "read. Once `git ls-files` lists it, ingest it again. Git says: {said}"
)


def repository(
    path: Path,
    id: str,  # as the API calls it
    parts: Mapping[str, str] = MappingProxyType({}),
) -> Folder:
    """List a repository: what is tracked, and what is neither tracked nor ignored; without git, as any folder.

    Nothing is listed of a work tree that git refuses to list, or of a folder in which git keeps its own files. Links
    are not followed. What is binary, larger than 1 MB, or made by a program for programs is skipped.
    """
    try:
        folder = _tracked(path, id, parts)
    except _NoGit as why:
        folder = listing(path, id, lambda _: True, parts)
        folder.remarks.append(Remark(str(path), _WALKED.format(why=why)))
    except _Refused as said:
        folder = Folder(path, id, parts, unlisted=[id])
        folder.faults.append(Fault(str(path), 0, _REFUSED.format(said=said)))
    files, folder.files = folder.files, []
    for file in files:
        if reason := _unread(file.path, path):
            folder.skipped.append(Skipped(str(file.path), reason))
        else:
            folder.files.append(file)
    folder.skipped.sort(key=lambda one: one.file)
    return folder


def check_folder(path: Path) -> None:
    """Raise InvalidInput for what can't be a repository."""
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path} is no folder, so it is no repository; a single file of code has the format code.")


class _NoGit(Exception):
    """Why git can't know a folder."""


class _Refused(Exception):
    """What git says of a folder that it might know, and does not list."""


def _tracked(path: Path, id: str, parts: Mapping[str, str]) -> Folder:
    folder = Folder(path, id, parts)
    for name in _listed(path):
        file = path / name
        try:
            if reason := _left_out(file, path):
                folder.skipped.append(Skipped(str(file), reason))
                folder.unlisted += [folder.name(file)] if reason == _OWN else []
            elif file.exists():  # else it is deleted, and git is not told yet
                folder.files.append(File(file, folder.name(file)))
        except OSError as error:
            folder.faults.append(Fault(str(file), 0, f"can't be read: {error.strerror}"))
            folder.unlisted.append(folder.name(file))
    folder.files.sort(key=lambda file: file.path.relative_to(path).parts)
    return folder


def _left_out(file: Path, root: Path) -> str:
    """Return why what git lists is not read, '' if it is; raises OSError where that can't be seen."""
    if file.is_symlink():
        return link_reason(file, root)
    if file.is_dir():
        return _OWN
    outside = file.exists() and root.resolve() not in file.resolve().parents
    return "behind a link out of the folder" if outside else ""


def _listed(path: Path) -> list[str]:
    """Return what git knows, and what it would take; of the latter nothing hidden, which may hold secrets (`.env`)."""
    known = _git(path, "--cached")
    new = (name for name in _git(path, "--others", "--exclude-standard") if not re.search(r"(?:^|/)\.", name))
    if not (names := known.union(new)):
        raise _NoGit("git knows nothing in it, as it may be ignored")
    return sorted(names)


def _git(path: Path, *which: str) -> set[str]:
    """Return the files of a folder that git lists."""
    command = [*_GIT, "-C", str(path), "ls-files", "-z", *which]
    # as it is in a hook, the environment may name another repository; what git says is understood in English
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
    except FileNotFoundError:
        raise _NoGit("git is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Refused(type(error).__name__) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        if "not a git repository" in said and not (path / ".git").exists():
            raise _NoGit("it is no git work tree")
        raise _Refused(said)
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def _unread(file: Path, root: Path) -> str:
    """Return why a file is not read, '' if it is."""
    within = file.relative_to(root)
    if made := next((part for part in within.parts if part in _FOLDERS), ""):
        return f"in {made}"
    if within.name.endswith(_MADE):
        return "made by a program for programs"
    try:
        if not file.is_file():
            return "no file"
        if file.stat().st_size > _LARGEST:
            return "larger than 1 MB"
        with file.open("rb") as opened:
            start = opened.read(_START)
    except OSError:
        return ""  # so that it is told why it can't be read
    # UTF-16 and UTF-32 hold NUL too
    return "binary" if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) else ""
