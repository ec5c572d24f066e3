"""What every surface shares: JSON forms, statuses of errors, filters; and the errors themselves."""

import ast
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import typer

from memgraph_engine import Memory, cost, errors
from memgraph_engine.cli import app
from memgraph_engine.cli.options import FILTER_OPTIONS, NOTE_OPTIONS
from memgraph_engine.errors import InvalidInput, MemgraphEngineError
from memgraph_engine.interface import status
from memgraph_engine.interface.defaults import NEWEST, TOP_K
from memgraph_engine.interface.filters import FILTERS, NOTE_FILTERS, SearchFilters, filters_of
from memgraph_engine.interface.results import json_form
from memgraph_engine.interface.status import status_of
from memgraph_engine.model import answer, health, ingested, memory, result, topic

RESULTS = [
    one
    for module in (answer, cost, health, ingested, memory, result, topic)
    for one in vars(module).values()
    if inspect.isclass(one) and is_dataclass(one) and one.__module__ == module.__name__
]
ERRORS = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, MemgraphEngineError)]


SAMPLES = {
    str: "x",
    int: 1,
    float: 0.5,
    bool: True,
    object: 1,
    date: date(2023, 5, 8),
    datetime: datetime(2023, 5, 8, tzinfo=UTC),
}


def sample(kind):
    """A value of a type, with something in each of its parts."""
    if kind is memory.Source:
        return memory.Source("D1:3", "I moved.", "", said_as="2023-05-08")
    if kind in SAMPLES:
        return SAMPLES[kind]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: sample(hints[field.name]) for field in fields(kind)})
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return tuple(sample(one) for one in inner if one is not ...)
    if origin is Mapping:
        return {"a": sample(inner[1])}
    return sample(inner[0])  # of a union, its first


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: one.__name__)
def test_every_result_has_a_json_form_with_all_of_its_fields(result):
    one = sample(result)
    form = json_form(one)
    assert list(form) == [*(field.name for field in fields(result)), *getattr(result, "derived", ())]
    json.dumps(form)
    if result.__module__ != cost.__name__:
        assert one.to_dict() == form


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: one.__name__)
def test_every_result_is_told_in_a_line(result):
    told = repr(sample(result))
    assert told.startswith(f"{result.__name__}(")
    assert len(told) < 200
    assert "\n" not in told


def test_the_line_of_a_hit_tells_what_was_found():
    words = "I moved to Lisbon in March, and the flat has a view of the river, which I like a lot."
    now = datetime(2023, 5, 8, tzinfo=UTC)
    note = memory.Note("4f", (words,), words, "active", "", 0, "", "", "", now, now, now, now, now, now)
    told = "Note(id='4f', status='active', text='I moved to Lisbon in March, and the flat has a view of the …')"
    assert repr(result.Hit(note, 0.71234, 0.5, relevance=0.9)) == f"Hit(score=0.712, relevance=0.9, note={told})"
    assert note.to_dict()["text"] == words


def test_never_is_null_in_the_json_form():
    now = datetime(2023, 5, 8, tzinfo=UTC)
    form = memory.Note("4f", ("a",), "a", "active", "", 0, "", "", "", now, now, now, memory.NEVER, now, now).to_dict()
    assert (form["recorded_at"], form["expires_at"], form["superseded_at"]) == (now.isoformat(), None, None)


def test_what_is_no_result_has_no_json_form():
    with pytest.raises(TypeError, match="object is no result"):
        json_form(object())


def test_every_error_has_a_status_of_its_own():
    assert set(status._STATUSES) == set(ERRORS)


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: one.__name__)
def test_wrong_input_is_the_callers_fault_on_every_surface(error):
    raised = error("a", "b") if error in (errors.QueryFailed, errors.MissingExtra) else error("a")
    theirs = isinstance(raised, InvalidInput)
    assert status_of(raised).exit_code == (2 if theirs else 1)
    refused = (errors.KeyRefused, errors.NotAllowed, errors.UndoRefused, errors.ErasureRefused, errors.Held)
    others = (errors.NotFound, errors.BudgetSpent, *refused)
    assert (400 <= status_of(raised).http < 500) is (theirs or isinstance(raised, others))


def test_an_error_of_a_users_own_ends_as_what_it_extends():
    class Gone(errors.NotFound):
        pass

    assert status_of(Gone("x")) == status_of(errors.NotFound("x"))


def test_the_errors_are_drawn_as_they_are_written():
    drawn = re.findall(r"^([│ ]*)(?:[├└]── )?(\w+)(?:  .*)?$", errors.__doc__.split("\n\n")[1], re.MULTILINE)
    written = [one for one in ast.parse(inspect.getsource(errors)).body if isinstance(one, ast.ClassDef)]
    assert [name for _, name in drawn] == [one.name for one in written]
    for (indent, name), one in zip(drawn[1:], written[1:], strict=True):
        parent = MemgraphEngineError if not indent else getattr(errors, one.bases[0].id)
        assert getattr(errors, name).__bases__[0] is parent
        assert len(indent) == (0 if parent is MemgraphEngineError else 4)


def test_each_filter_is_an_option_of_the_command_line():
    assert list(FILTER_OPTIONS) == list(FILTERS)
    assert list(NOTE_OPTIONS) == list(NOTE_FILTERS)


@pytest.mark.parametrize("method", ["search", "context", "answer", "answer_stream"])
def test_each_question_takes_the_same_filters_and_finds_as_many_notes(method):
    parameters = inspect.signature(getattr(Memory, method)).parameters
    assert get_type_hints(getattr(Memory, method))["filters"].__args__ == (SearchFilters,)
    assert parameters["top_k"].default == TOP_K


@pytest.mark.parametrize(
    ("command", "option", "number"),
    [("search", "top_k", TOP_K), ("context", "top_k", TOP_K), ("ask", "top_k", TOP_K), ("decisions", "limit", NEWEST)],
)
def test_the_command_line_has_the_defaults_of_memory(command, option, number):
    options = {one.name: one.default for one in typer.main.get_command(app).commands[command].params}
    method = {"ask": "answer"}.get(command, command)
    assert options[option] == inspect.signature(getattr(Memory, method)).parameters[option].default == number


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"colour": ["red"]}, "no filter 'colour'. The filters are session, speaker"),
        ({"speaker": ["Ana", "Bo"]}, "speaker takes one value, and was given 2"),
        ({"min_similarity": ["near"]}, "min_similarity must be a number, not 'near'"),
        ({"metadata": ["floor"]}, "'floor' is not of the form KEY=VALUE"),
        ({"metadata": ["floor=1", "floor=2"]}, "'floor' of the metadata is given twice"),
    ],
)
def test_filters_that_can_not_be_read_are_told(given, fault):
    with pytest.raises(InvalidInput, match=fault):
        filters_of(given)
