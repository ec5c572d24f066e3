"""LangChain's retriever: documents that tell where they come from, with the filters of a search."""

import asyncio

import pytest

from memgraph_engine import InvalidInput

pytest.importorskip("langchain_core.retrievers", reason="run by make test-langchain")
pytest.importorskip("langchain_tests.integration_tests", reason="run by make test-langchain")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from memgraph_engine.integrations.langchain import MemgraphRetriever

pytestmark = pytest.mark.langchain


@pytest.fixture
def told(memory):
    for n, (speaker, text, day) in enumerate(
        [
            ("Ana", "I moved to Lisbon.", "2023-05-08"),
            ("Bo", "My boat is red.", "2023-05-09"),
            ("Ana", "I work at the aquarium.", "2023-06-01"),
            ("Bo", "The heron eats fish.", "2023-06-02"),
            ("Ana", "I prefer green tea to coffee.", "2023-06-03"),
        ]
    ):
        memory.add(text, user_id="ana", speaker=speaker, time=day, id=f"m{n}", session="s1", metadata={"n": n})
    return memory


@pytest.fixture
def retriever(told):
    return MemgraphRetriever(memory=told, user_id="ana", k=2)


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own tests of any retriever."""

    @pytest.fixture(autouse=True)
    def _memory(self, told):
        self.told = told

    @property
    def retriever_constructor(self):
        return MemgraphRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": self.told, "user_id": "ana"}

    @property
    def retriever_query_example(self):
        return "Where does Ana live?"


def test_a_document_tells_where_it_comes_from(retriever, told):
    document = retriever.invoke("Where does Ana live?")[0]
    hit = told.search("Where does Ana live?", user_id="ana")[0]
    assert document.page_content == "I moved to Lisbon."
    assert document.id == document.metadata["note"] == hit.note.id
    assert document.metadata["sources"] == ["m0"]
    assert document.metadata["said_at"].startswith("2023-05-08T")
    assert document.metadata["score"] == hit.score
    assert document.metadata["metadata"] == {"n": 0}
    assert told.explain(document.id, user_id="ana").note.id == document.id


def test_the_context_may_be_the_text(told):
    retriever = MemgraphRetriever(memory=told, user_id="ana", k=1, text="context")
    assert retriever.invoke("Where does Ana live?")[0].page_content.startswith("Ana: I moved to Lisbon. (8 May, 2023)")


def test_filters_narrow_all_questions_or_one(told):
    retriever = MemgraphRetriever(memory=told, user_id="ana", filters={"speaker": "Bo"})
    assert {one.metadata["speaker"] for one in retriever.invoke("Where does Ana live?")} == {"Bo"}
    narrowed = retriever.invoke("Where does Ana live?", since="2023-06-01")
    assert [one.metadata["sources"] for one in narrowed] == [["m3"]]
    with pytest.raises(InvalidInput, match="There is no filter 'speker'"):
        retriever.invoke("Where does Ana live?", speker="Bo")


def test_it_is_asked_from_a_loop(retriever):
    async def ask():
        return await asyncio.gather(
            retriever.ainvoke("Where does Ana live?"), retriever.ainvoke("What is red?", k=1, speaker="Bo")
        )

    first, second = asyncio.run(ask())
    assert first[0].metadata["sources"] == ["m0"]
    assert [one.page_content for one in second] == ["My boat is red."]


def test_it_reads_no_other_users_memory(told):
    told.add("I live in Porto.", user_id="bo")
    told.add("The office is in Faro.", shared=True)
    documents = MemgraphRetriever(memory=told, user_id="ana", k=50).invoke("Who lives where?")
    assert "I live in Porto." not in {one.page_content for one in documents}
    assert "The office is in Faro." in {one.page_content for one in documents}
    only = MemgraphRetriever(memory=told, shared=True, k=50).invoke("Who lives where?")
    assert [one.page_content for one in only] == ["The office is in Faro."]


def test_a_retriever_without_a_user_is_refused_when_it_is_asked(told):
    with pytest.raises(InvalidInput, match="user_id is required"):
        MemgraphRetriever(memory=told).invoke("Where does Ana live?")
