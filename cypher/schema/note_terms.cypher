// Propose notes by words. The terms are stems of our own, each behind its scope's token, so white space is all that the
// analyser splits at, and no other scope's notes are walked, counted or weighed. Status stands beside them: past versions
// would eat the limit.
CREATE FULLTEXT INDEX note_terms IF NOT EXISTS
FOR (n:Note|Past) ON EACH [n.raw_scoped, n.context_scoped, n.status]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
