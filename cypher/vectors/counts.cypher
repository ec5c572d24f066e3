// How many nodes have vectors, at most.
// returns notes, past, keywords, others
RETURN COUNT { (:Note) } AS notes, COUNT { (:Past) } AS past, COUNT { (:Keyword) } AS keywords,
       COUNT { (:Claim) } + COUNT { (:Topic) } + COUNT { (:Block) } AS others
