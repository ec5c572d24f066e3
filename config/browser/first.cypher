MATCH path = (:Source)<-[:FROM]-(:Note)-[:HAS_KEYWORD]->(:Keyword)
RETURN path LIMIT 40
