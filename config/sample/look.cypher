MATCH path = (:Source)<-[:FROM]-(note:Note)-[:HAS_KEYWORD]->(:Keyword)
WHERE note.scope STARTS WITH 'demo/'
RETURN path LIMIT 150
