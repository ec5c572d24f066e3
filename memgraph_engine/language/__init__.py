"""The reader of text: its terms, its tokens, and the clauses that state something."""

from memgraph_engine.language.terms import (
    APOSTROPHES as APOSTROPHES,
    CLAUSES as CLAUSES,
    CLOSED as CLOSED,
    DEFAULT_LANGUAGE as DEFAULT_LANGUAGE,
    LANGUAGES as LANGUAGES,
    LISTED as LISTED,
    MAX_TOKEN as MAX_TOKEN,
    SPOKEN as SPOKEN,
    are_terms as are_terms,
    letter_marks as letter_marks,
    listed_terms as listed_terms,
    places as places,
    sentence_spans as sentence_spans,
    sentences as sentences,
    spelt as spelt,
    spoken as spoken,
    tokenize as tokenize,
    tokenize_code as tokenize_code,
    word_list as word_list,
    word_values as word_values,
)
