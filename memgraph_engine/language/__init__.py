"""The reader of text: its terms, its tokens, and the clauses that state something."""
