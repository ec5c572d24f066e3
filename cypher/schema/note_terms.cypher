// Propose notes by words. The terms are stems of our own, so white space is all the analyser splits at;
// scope and status stand beside them, since other notes would eat the limit.
CREATE FULLTEXT INDEX note_terms IF NOT EXISTS
FOR (n:Note|Past) ON EACH [n.raw_terms, n.context_terms, n.scope_token, n.status]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
