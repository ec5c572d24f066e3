"""Files and folders in a memory: what is added, recognised, updated and deleted, and what is left alone."""

import asyncio
import os
import random
from dataclasses import replace

import pytest

from memgraph_engine import AsyncMemory
from memgraph_engine.errors import InvalidInput, UndoRefused
from memgraph_engine.model.ingested import Ingested
from tests.test_readers import growing

BLUE = "The blue boat leaks at the stern."
RED = "The red boat was painted in Viana."
OARS = "Our oars hang behind the kitchen door."
TIDE = "The tide turns at noon on Sundays."


@pytest.fixture
def folder(tmp_path):
    """Make a folder of files, each path with its text."""

    def make(name="notes", **files):
        for path, text in files.items():
            file = tmp_path / name / path.replace("__", "/").replace("_md", ".md").replace("_txt", ".txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / name).mkdir(exist_ok=True)
        return tmp_path / name

    return make


def sources(memory):
    return {source.id: source.text for note in memory.get_all(user_id="ana") for source in note.sources}


def numbers(done):
    names = ("files", "added", "reinforced", "repeats", "updated", "deleted")
    counted = {name: getattr(done, name) for name in names} | {"faults": len(done.faults)}
    return {name: number for name, number in counted.items() if number}


def ingest(memory, path, **options):
    done = memory.ingest(path, user_id="ana", **options)
    assert memory.verify(user_id="ana") == []
    return numbers(done)


def follow(memory, path, **options):
    return ingest(memory, path, update=True, **options)


# ---- folders --------------------------------------------------------------------------------


def test_files_of_one_name_in_different_folders_are_two_documents(memory, folder):
    notes = folder(a_md=BLUE, boats__a_md=RED, boats__old__a_md=OARS)
    assert ingest(memory, notes) == {"files": 3, "added": 3}
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/boats/a.md#0": RED, "notes/boats/old/a.md#0": OARS}


def test_a_folder_that_was_moved_is_the_same(memory, folder, tmp_path, monkeypatch):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    ingest(memory, notes)
    (tmp_path / "elsewhere").mkdir()
    moved = notes.rename(tmp_path / "elsewhere" / "notes")
    assert follow(memory, moved) == {"files": 2, "repeats": 2}
    monkeypatch.chdir(moved / "boats")
    assert follow(memory, "..") == {"files": 2, "repeats": 2}
    monkeypatch.chdir(moved)
    assert follow(memory, ".") == {"files": 2, "repeats": 2}


def test_a_folder_may_be_named(memory, folder):
    ingest(memory, folder(a_md=BLUE), id="handbook")
    assert list(sources(memory)) == ["handbook/a.md#0"]


def test_files_are_read_in_the_order_of_their_names(memory, folder):
    notes = folder(b_md=RED, a__z_md=BLUE, a_md=OARS, C_md=TIDE)
    ingest(memory, notes)
    assert list(sources(memory)) == ["notes/C.md#0", "notes/a/z.md#0", "notes/a.md#0", "notes/b.md#0"]


def test_of_two_names_that_differ_in_their_unicode_form_one_is_a_fault(memory, folder):
    notes = folder(z_md=OARS)
    (notes / "e\u0301.md").write_text(BLUE)
    (notes / "\u00e9.md").write_text(RED)
    for counted in ({"added": 2}, {"repeats": 2}):
        done = memory.ingest(notes, user_id="ana", update=True)
        assert [str(fault) for fault in done.faults] == [
            f"{notes}/\u00e9.md: its name is that of 'e\\u0301.md' in another Unicode form; rename one of the two"
        ]
        assert numbers(done) == {"files": 2, "faults": 1, **counted}
    assert sources(memory) == {"notes/\u00e9.md#0": BLUE, "notes/z.md#0": OARS}


def test_what_is_hidden_or_of_no_known_kind_is_skipped(memory, folder):
    notes = folder(a_md=BLUE)
    for name in (".hidden.md", ".git/config.md", "photo.jpeg", "Makefile", "package.json"):
        (notes / name).parent.mkdir(exist_ok=True)
        (notes / name).write_text('{"name": "boats"}')
    os.mkfifo(notes / "pipe.md")
    done = memory.ingest(notes, user_id="ana")
    assert (done.files, done.added, done.faults) == (1, 1, ())
    assert {(one.file.removeprefix(f"{notes}/"), one.reason) for one in done.skipped} == {
        (".git", "hidden"),
        (".hidden.md", "hidden"),
        ("Makefile", "of no known kind"),
        ("package.json", "of no known kind"),
        ("photo.jpeg", "of no known kind"),
        ("pipe.md", "no file"),
    }


def test_messages_in_a_folder_are_read(memory, folder):
    notes = folder(a_md=BLUE)
    (notes / "chat.json").write_text('[{"role": "user", "content": "I sold the red boat."}]')
    assert ingest(memory, notes) == {"files": 2, "added": 2}


def test_links_in_a_circle_and_out_of_the_folder_are_told_and_not_followed(memory, folder, tmp_path):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    (tmp_path / "secret.md").write_text("The key is under the pot.")
    links = {
        "boats/up": "..",
        "boats/self": ".",
        "boats/out.md": "../../secret.md",
        "boats/parent": "../..",
        "loop.md": "loop.md",
        "nowhere.md": "none.md",
        "same.md": "a.md",
    }
    for link, target in links.items():
        (notes / link).symlink_to(target)
    done = memory.ingest(notes, user_id="ana")
    assert {one.file.removeprefix(f"{notes}/"): one.reason for one in done.skipped} == {
        "boats/up": "a link in a circle",
        "boats/self": "a link in a circle",
        "boats/out.md": "a link out of the folder",
        "boats/parent": "a link out of the folder",
        "loop.md": "a link in a circle",
        "nowhere.md": "a link that leads nowhere",
        "same.md": "a link to what is read where it is",
    }
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/boats/b.md#0": RED}


def test_a_link_in_a_circle_that_is_given_is_refused_and_nothing_is_read(memory, folder, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "loop")
    with pytest.raises(InvalidInput, match=f"{tmp_path / 'loop'} is no file or folder that can be read"):
        memory.ingest([folder(a_md=BLUE), tmp_path / "loop"], user_id="ana")
    assert sources(memory) == {}


@pytest.mark.parametrize("update", [False, True])
def test_a_file_that_changes_all_the_while_is_told_and_loses_nothing(memory, folder, monkeypatch, update):
    notes = folder(a_md=BLUE, b_md=RED)
    ingest(memory, notes)
    (notes / "c.md").write_text("The buoy is green.")
    with monkeypatch.context() as patch:
        growing(notes / "a.md", 100, patch)
        done = memory.ingest(notes, user_id="ana", update=update)
    (fault,) = done.faults
    assert (fault.file, "changed while it was read; ingest it again" in fault.reason) == (str(notes / "a.md"), True)
    told = {"notes/a.md#0": BLUE, "notes/b.md#0": RED, "notes/c.md#0": "The buoy is green."}
    assert sources(memory) == told
    assert memory.verify(user_id="ana") == []
    follow(memory, notes)
    assert sources(memory)["notes/a.md#0"].startswith(f"{BLUE} And more.")


def test_a_file_that_vanishes_before_it_is_read_is_told_and_keeps_its_passages_for_now(memory, folder):
    notes = folder(a_md=BLUE, b_md=RED)
    ingest(memory, notes)
    done = memory.ingest(notes, user_id="ana", update=True, progress=lambda _: (notes / "b.md").unlink(missing_ok=True))
    (fault,) = done.faults
    assert (fault.file, fault.reason) == (str(notes / "b.md"), "is no file that can be read.")
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/b.md#0": RED}
    follow(memory, notes)
    assert sources(memory) == {"notes/a.md#0": BLUE}


def test_a_link_that_is_given_is_followed(memory, folder, tmp_path):
    (tmp_path / "diary").symlink_to(folder(a_md=BLUE))
    assert ingest(memory, tmp_path / "diary") == {"files": 1, "added": 1}
    assert list(sources(memory)) == ["diary/a.md#0"]


def test_several_paths_are_read_and_two_of_one_name_refused(memory, folder):
    one, other = folder(a_md=BLUE), folder("more", a_md=RED)
    with pytest.raises(InvalidInput, match="one name"):
        memory.ingest([one / "a.md", other / "a.md"], user_id="ana")
    with pytest.raises(InvalidInput, match="names one"):
        memory.ingest([one, other], user_id="ana", id="x")
    with pytest.raises(InvalidInput, match="no file or folder"):
        memory.ingest(one / "none.md", user_id="ana")
    assert ingest(memory, [one, str(other)]) == {"files": 2, "added": 2}
    assert ingest(memory, [one / "a.md", other / "a.md"]) == {"files": 2, "repeats": 2}


# ---- following the files --------------------------------------------------------------------


def sections(*texts):
    return "\n\n".join(f"# Part {text.split()[1]}\n\n{text}" for text in texts)


def texts(memory):
    return sorted(text.split("\n\n")[-1] for text in sources(memory).values())


def test_a_second_run_changes_nothing(memory, folder):
    notes = folder(a_md=sections(BLUE, RED), boats__b_md=OARS)
    follow(memory, notes)
    before = memory.stats(user_id="ana").version
    assert follow(memory, notes) == {"files": 2, "repeats": 3}
    assert memory.stats(user_id="ana").version == before


def test_a_passage_put_in_front_changes_no_other(memory, folder):
    notes = folder(a_md=sections(BLUE, RED))
    follow(memory, notes)
    folder(a_md=sections(TIDE, BLUE, RED))
    assert follow(memory, notes) == {"files": 1, "added": 1, "repeats": 2}
    assert follow(memory, notes) == {"files": 1, "repeats": 3}
    assert [version.note.raw for version in memory.history("notes/a.md#0", user_id="ana")] == [
        (f"# Part blue\n\n{BLUE}",)
    ]


def test_a_passage_that_changed_is_updated_and_its_old_text_kept(memory, folder):
    notes = folder(a_md=sections(BLUE, RED, OARS))
    follow(memory, notes)
    folder(a_md=sections(BLUE, "The red boat was sold to Duarte.", OARS))
    assert follow(memory, notes) == {"files": 1, "repeats": 2, "updated": 1}
    assert texts(memory) == sorted([BLUE, OARS, "The red boat was sold to Duarte."])
    assert RED in memory.history("notes/a.md#1", user_id="ana")[0].note.raw[0]
    folder(a_md=sections(BLUE, RED, OARS))
    assert follow(memory, notes) == {"files": 1, "repeats": 2, "updated": 1}
    assert texts(memory) == sorted([BLUE, OARS, RED])


def test_a_passage_that_vanished_is_deleted_and_can_be_brought_back(memory, folder):
    notes = folder(a_md=sections(BLUE, RED, OARS))
    follow(memory, notes)
    folder(a_md=sections(BLUE, OARS))
    assert follow(memory, notes) == {"files": 1, "repeats": 2, "deleted": 1}
    assert texts(memory) == sorted([BLUE, OARS])
    (decision,) = memory.decisions(user_id="ana", limit=1)
    assert decision.kind == "delete"
    assert "no longer" in decision.evidence
    memory.undo(decision.id, user_id="ana")
    assert texts(memory) == sorted([BLUE, RED, OARS])
    assert memory.verify(user_id="ana") == []


def test_what_comes_back_is_remembered_again_but_what_the_user_deleted_is_not(memory, folder):
    notes = folder(a_md=sections(BLUE, RED, OARS))
    follow(memory, notes)
    memory.delete("notes/a.md#1", user_id="ana")
    folder(a_md=sections(BLUE))
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    folder(a_md=sections(BLUE, RED, OARS))
    assert follow(memory, notes) == {"files": 1, "added": 1, "repeats": 2}
    assert texts(memory) == sorted([BLUE, OARS])


def test_a_file_that_vanished_from_a_folder_has_its_passages_deleted(memory, folder):
    notes = folder(a_md=BLUE, boats__b_md=sections(RED, OARS))
    follow(memory, notes)
    (notes / "boats" / "b.md").unlink()
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 2}
    assert sources(memory) == {"notes/a.md#0": BLUE}
    memory.undo(memory.decisions(user_id="ana", limit=1)[0].id, user_id="ana")
    assert texts(memory) == sorted([BLUE, RED, OARS])


def test_a_file_that_was_renamed_is_remembered_under_its_new_name(memory, folder):
    notes = folder(a_md=BLUE, b_md=RED)
    follow(memory, notes)
    (notes / "b.md").rename(notes / "c.md")
    assert follow(memory, notes) == {"files": 2, "added": 1, "repeats": 1, "deleted": 1}
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/c.md#0": RED}


def test_nothing_outside_of_what_is_given_is_deleted(memory, folder):
    notes, more = folder(a_md=BLUE, boats__b_md=RED), folder("notes2", a_md=OARS)
    follow(memory, notes)
    follow(memory, more)
    memory.add("I live in Lisbon.", user_id="ana", id="1", session="notes/chat", kind="document")
    (notes / "a.md").unlink()
    (notes / "boats" / "b.md").unlink()
    follow(memory, more)
    assert texts(memory) == sorted([BLUE, RED, OARS, "I live in Lisbon."])
    follow(memory, notes / "boats")
    assert texts(memory) == sorted([BLUE, OARS, "I live in Lisbon."])
    follow(memory, notes)
    assert texts(memory) == sorted([OARS, "I live in Lisbon."])


def test_a_part_that_was_ingested_before_its_folder_is_told_once(memory, folder):
    notes = folder(a_md=BLUE, boats__b_md=RED, boats__old__c_md=OARS)
    assert follow(memory, notes / "boats") == {"files": 2, "added": 2}
    assert follow(memory, notes) == {"files": 3, "added": 1, "repeats": 2}
    assert sources(memory) == {"boats/b.md#0": RED, "boats/old/c.md#0": OARS, "notes/a.md#0": BLUE}
    (notes / "boats" / "old" / "c.md").unlink()
    folder(boats__b_md=TIDE)
    assert follow(memory, notes) == {"files": 2, "repeats": 1, "updated": 1, "deleted": 1}
    assert sources(memory) == {"boats/b.md#0": TIDE, "notes/a.md#0": BLUE}
    assert follow(memory, notes / "boats") == {"files": 1, "repeats": 1}


def test_a_folder_and_a_part_of_it_never_have_one_name(memory, folder):
    notes = folder(a_md=BLUE, notes__b_md=RED, boats__c_md=OARS)
    follow(memory, notes)
    with pytest.raises(InvalidInput, match="Leave out the id"):
        follow(memory, notes / "boats", id="notes")
    assert len(sources(memory)) == 3
    assert follow(memory, notes / "notes") == {"files": 1, "repeats": 1}


def test_a_folder_whose_part_has_its_name_already_needs_another(memory, folder):
    notes = folder(a_md=BLUE, notes__b_md=RED)
    follow(memory, notes / "notes")
    with pytest.raises(InvalidInput, match="an id of its own"):
        follow(memory, notes)
    assert follow(memory, notes, id="all") == {"files": 2, "added": 1, "repeats": 1}
    assert sources(memory) == {"notes/b.md#0": RED, "all/a.md#0": BLUE}


def test_a_part_that_is_given_beside_its_folder_is_told_once(memory, folder):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    assert follow(memory, [notes / "boats", notes, notes / "a.md"]) == {"files": 2, "added": 2}
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/boats/b.md#0": RED}


def test_a_part_of_a_folder_is_known_as_that_part(memory, folder):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    follow(memory, notes)
    folder(a_md=OARS, boats__b_md=TIDE)
    assert follow(memory, notes / "boats") == {"files": 1, "updated": 1}
    assert follow(memory, notes / "a.md") == {"files": 1, "updated": 1}
    assert sources(memory) == {"notes/a.md#0": OARS, "notes/boats/b.md#0": TIDE}
    assert follow(memory, notes) == {"files": 2, "repeats": 2}


def test_another_folder_of_the_same_name_is_told_from_the_first(memory, folder):
    notes, other = folder("one/notes", a_md=BLUE, b_md=RED), folder("two/notes", a_md=OARS)
    follow(memory, notes)
    for update in (True, False):
        done = memory.ingest(other, user_id="ana", update=update)
        assert (done.files, done.added, done.deleted) == (0, 0, 0)
        assert f"'notes' as the folder {notes}" in str(done.faults[0])
    assert texts(memory) == [BLUE, RED]
    assert follow(memory, other, id="others") == {"files": 1, "added": 1}
    assert follow(memory, other) == {"files": 1, "repeats": 1}
    assert follow(memory, notes) == {"files": 2, "repeats": 2}


def test_a_folder_that_was_moved_and_rewritten_is_known_by_the_id_that_is_given(memory, folder):
    follow(memory, folder("one/notes", a_md=BLUE, b_md=RED))
    moved = folder("two/notes", a_md=OARS)
    assert follow(memory, moved, id="notes") == {"files": 1, "updated": 1, "deleted": 1}
    assert follow(memory, moved) == {"files": 1, "repeats": 1}


def test_without_update_nothing_is_changed_or_deleted(memory, folder):
    notes = folder(a_md=sections(BLUE, RED), b_md=OARS)
    ingest(memory, notes)
    (notes / "b.md").unlink()
    folder(a_md=sections(BLUE, TIDE))
    done = memory.ingest(notes, user_id="ana")
    assert numbers(done) == {"files": 1, "faults": 1}
    assert "--update" in str(done.faults[0])
    assert texts(memory) == sorted([BLUE, RED, OARS])


def test_a_document_that_grew_needs_no_update(memory, folder):
    notes = folder(a_md=sections(BLUE, RED))
    ingest(memory, notes)
    folder(a_md=sections(BLUE, RED, TIDE))
    assert ingest(memory, notes) == {"files": 1, "added": 1, "repeats": 2}


@pytest.mark.parametrize("content", [b"---\na: [1\n---\nHi.", b"fine\n\x00\xff", "Завтра мы.".encode("cp1251")])
def test_what_cannot_be_read_any_more_is_kept(memory, folder, content):
    notes = folder(a_md=BLUE, b_md=RED)
    follow(memory, notes)
    (notes / "b.md").write_bytes(content)
    assert follow(memory, notes) == {"files": 2, "repeats": 1, "faults": 1}
    assert texts(memory) == [BLUE, RED]


def test_a_file_in_whose_place_is_a_link_is_gone(memory, folder, tmp_path):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    follow(memory, notes)
    (notes / "boats").rename(tmp_path / "boats")
    (notes / "boats").symlink_to(tmp_path / "boats")
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    (notes / "boats").unlink()
    (tmp_path / "boats").rename(notes / "boats")
    assert follow(memory, notes) == {"files": 2, "repeats": 1, "added": 1}


def test_an_empty_file_holds_nothing_any_more(memory, folder):
    notes = folder(a_md=BLUE)
    follow(memory, notes)
    folder(a_md="")
    assert follow(memory, notes) == {"files": 1, "deleted": 1}
    assert sources(memory) == {}


POOL = (BLUE, RED, OARS, TIDE, "The cat sleeps on the roof of the shed.", "Duarte mends nets every winter.")


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 12))])
def test_the_memory_says_what_the_file_says_whatever_it_said_before(memory, folder, seed):
    draw = random.Random(seed)
    for _ in range(5):
        said = draw.choices(POOL, k=draw.randrange(6))
        notes = folder(a_md=sections(*said))
        follow(memory, notes)
        assert texts(memory) == sorted(said)
        assert not {"added", "updated", "deleted"} & set(follow(memory, notes))


# ---- passages that several files tell -------------------------------------------------------


def test_what_another_file_tells_too_stays_until_that_is_gone(memory, folder):
    notes = folder(a_md=BLUE, b_md=BLUE)
    assert follow(memory, notes) == {"files": 2, "added": 1, "reinforced": 1}
    before = next(memory.get_all(user_id="ana"))
    (notes / "a.md").unlink()
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    (note,) = memory.get_all(user_id="ana")
    assert ([source.id for source in note.sources], note.session) == (["notes/b.md#0"], "notes/b.md")
    memory.undo(memory.decisions(user_id="ana", limit=1)[0].id, user_id="ana")
    (back,) = memory.get_all(user_id="ana")
    assert (back.raw, back.context, back.session) == (before.raw, before.context, before.session)
    assert [source.id for source in back.sources] == [source.id for source in before.sources]
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    (notes / "b.md").unlink()
    assert follow(memory, notes) == {"deleted": 1}
    assert sources(memory) == {}


def test_what_changes_in_one_of_two_files_leaves_the_other(memory, folder):
    notes = folder(a_md=BLUE, b_md=BLUE)
    follow(memory, notes)
    folder(b_md=TIDE)
    assert follow(memory, notes) == {"files": 2, "added": 1, "repeats": 1, "deleted": 1}
    assert sources(memory) == {"notes/a.md#0": BLUE, "notes/b.md#1": TIDE}
    assert follow(memory, notes) == {"files": 2, "repeats": 2}


def test_a_text_that_was_merged_loses_the_line_whose_file_is_gone(memory, folder):
    notes = folder(a_md="Our beekeeper sold two hives of bees.", b_md="By the way, our beekeeper sold 2 hives of bees!")
    assert memory.ingest(notes, user_id="ana").merged == 1
    (notes / "b.md").unlink()
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    (note,) = memory.get_all(user_id="ana")
    assert note.raw == ("Our beekeeper sold two hives of bees.",)
    assert memory.search("hives", user_id="ana")[0].note.id == note.id


def test_no_context_quotes_a_passage_that_is_gone(memory, folder):
    notes = folder(a_md=sections(BLUE, RED))
    follow(memory, notes)
    folder(a_md=sections(RED))
    follow(memory, notes)
    assert [BLUE in note.context for note in memory.get_all(user_id="ana")] == [False]


# ---- metadata -------------------------------------------------------------------------------


def test_front_matter_can_be_searched_by(memory, folder):
    ingest(memory, folder(a_md=f"---\nauthor: Duarte\ndate: 2024-05-01\ntags: [boats]\n---\n{BLUE}", b_md=RED))
    (hit,) = memory.search("Which boat?", user_id="ana", metadata={"author": "Duarte"}, tags=["boats"])
    (source,) = hit.sources
    assert (source.text, source.metadata["author"], source.said_as) == (BLUE, "Duarte", "2024-05-01")
    assert [h.note.id for h in memory.search("Which boat?", user_id="ana", until="2024-05-01")] == [hit.note.id]


@pytest.mark.parametrize("front", ["author: Rita", "date: 2024-06-01", "tags: [sold]"])
def test_new_front_matter_reaches_the_passages(memory, folder, front):
    notes = folder(a_md=f"---\nauthor: Duarte\n---\n{BLUE}")
    follow(memory, notes)
    folder(a_md=f"---\n{front}\n---\n{BLUE}")
    assert follow(memory, notes) == {"files": 1, "added": 1, "deleted": 1}
    (note,) = memory.get_all(user_id="ana")
    assert set(note.sources[0].metadata) == {front.partition(":")[0]}
    assert follow(memory, notes) == {"files": 1, "repeats": 1}


# ---- messages -------------------------------------------------------------------------------


def lines(tmp_path, *messages):
    file = tmp_path / "chat.jsonl"
    file.write_text(
        "\n".join(f'{{"id": "{name}", "speaker": "{who}", "text": "{text}"}}' for name, who, text in messages)
    )
    return file


def test_messages_are_updated_and_never_deleted(memory, tmp_path):
    follow(memory, lines(tmp_path, ("1", "Ana", BLUE), ("2", "Ana", RED)))
    changed = lines(tmp_path, ("2", "Ana", "The red boat is gone."), ("3", "Ana", OARS))
    assert follow(memory, changed) == {"files": 1, "added": 1, "updated": 1}
    assert follow(memory, changed) == {"files": 1, "repeats": 2}
    assert sources(memory) == {"1": BLUE, "2": "The red boat is gone.", "3": OARS}
    back = lines(tmp_path, ("2", "Ana", RED), ("3", "Ana", OARS))
    assert follow(memory, back) == {"files": 1, "repeats": 1, "updated": 1}
    assert sources(memory)["2"] == RED


def test_a_message_that_differs_in_more_than_its_text_is_told(memory, tmp_path):
    follow(memory, lines(tmp_path, ("1", "Ana", BLUE)))
    done = memory.ingest(lines(tmp_path, ("1", "Bo", BLUE), ("2", "Bo", RED)), user_id="ana", update=True)
    assert numbers(done) == {"files": 1, "added": 1, "faults": 1}
    assert "more than its text" in done.faults[0].reason


def test_a_message_that_made_no_note_or_was_deleted_does_not_stop_an_update(memory, tmp_path):
    follow(memory, lines(tmp_path, ("1", "Ana", "Thanks!"), ("2", "Ana", RED)))
    memory.delete("2", user_id="ana")
    done = memory.ingest(
        lines(tmp_path, ("1", "Ana", OARS), ("2", "Ana", TIDE), ("3", "Ana", BLUE)), user_id="ana", update=True
    )
    assert (done.added, [fault.reason.partition(" ")[0] for fault in done.faults]) == (1, ["Source", "Source"])
    assert sources(memory) == {"3": BLUE}


# ---- the call -------------------------------------------------------------------------------


def test_an_ingest_that_was_cut_off_is_made_again(memory, folder, monkeypatch):
    few = memory.engine.settings.model_copy(update={"ingest_batch": 2})
    monkeypatch.setattr(memory, "engine", replace(memory.engine, settings=few))
    notes = folder(a_md=sections(BLUE, RED, OARS, TIDE, "The cat sleeps on the roof of the shed."))

    def stop(done):
        if done.added >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.ingest(notes, user_id="ana", progress=stop)
    assert ingest(memory, notes) == {"files": 1, "added": 3, "repeats": 2}
    assert [int(name.partition("#")[2]) for name in sources(memory)] == [0, 1, 2, 3, 4]


def test_progress_tells_what_came_of_it_so_far(memory, folder):
    seen = []
    done = memory.ingest(folder(a_md=BLUE, b_md=RED), user_id="ana", progress=seen.append)
    assert seen[-1] == done
    assert [one.inputs for one in seen] == sorted(one.inputs for one in seen)
    assert isinstance(done, Ingested)


def test_passages_can_wait_to_be_constructed(memory, folder):
    notes = folder(a_md=sections(BLUE, RED))
    assert memory.ingest(notes, user_id="ana", wait=False).deferred == 2
    folder(a_md=sections(BLUE))
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "deleted": 1}
    memory.process(user_id="ana")
    assert texts(memory) == [BLUE]


def test_what_later_decisions_touched_is_not_undone_alone(memory, folder):
    notes = folder(a_md=BLUE)
    follow(memory, notes)
    folder(a_md="")
    follow(memory, notes)
    first = memory.decisions(user_id="ana")[-1]
    with pytest.raises(UndoRefused):
        memory.undo(first.id, user_id="ana")
    memory.undo(first.id, user_id="ana", cascade=True)
    folder(a_md=BLUE)
    assert follow(memory, notes) == {"files": 1, "added": 1}


def test_another_user_s_documents_are_left_alone(memory, folder):
    notes = folder(a_md=BLUE)
    memory.ingest(notes, user_id="bo", update=True)
    follow(memory, notes)
    (notes / "a.md").unlink()
    follow(memory, notes)
    assert [note.sources[0].text for note in memory.get_all(user_id="bo")] == [BLUE]


def test_it_can_be_awaited(memory, folder):
    done = asyncio.run(AsyncMemory(memory).ingest(folder(a_md=BLUE), user_id="ana"))
    assert numbers(done) == {"files": 1, "added": 1}


def test_a_folder_that_may_not_be_read_keeps_its_documents(memory, folder, monkeypatch):
    notes = folder(a_md=BLUE, boats__b_md=RED)
    follow(memory, notes)

    def scandir(path, listed=os.scandir):
        if path == notes / "boats":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert follow(memory, notes) == {"files": 1, "repeats": 1, "faults": 1}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": None}, "path"),
        ({"path": b"notes"}, "path"),
        ({"path": [7]}, "path"),
        ({"path": ""}, "path is empty"),
        ({"path": "a\0b"}, "NUL"),
        ({"path": ["a\ud800"]}, "surrogate"),
        ({"id": 7}, "id"),
        ({"encoding": 7}, "encoding 7"),
        ({"progress": " "}, "progress"),
    ],
)
def test_what_is_no_path_or_option_is_told_as_such(memory, folder, given, said):
    with pytest.raises(InvalidInput, match=said):
        memory.ingest(**{"path": folder(blue_md=BLUE), "user_id": "ana", **given})
    assert not list(memory.get_all(user_id="ana"))
