// A question's evidence
// From the keywords that the question names, and their topics, to the notes that carry the rarest, to the sources.
// $scope: string    whose memory
// $question: string    as it would be asked
WITH reduce(words = ' ' + toLower($question) + ' ', mark IN split("?!.,;:'", '') | replace(words, mark, ' ')) AS words
MATCH (k:Keyword {scope: $scope}) WHERE k.name >= '' AND words CONTAINS ' ' + k.name + ' '
MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN ['active', 'pending']
WITH n, collect(k) AS named, sum(1.0 / COUNT { (k)<-[:HAS_KEYWORD]-() }) AS rarity
ORDER BY rarity DESC, n.id LIMIT 20
UNWIND named AS k
MATCH path = (k)<-[:HAS_KEYWORD]-(n)-[:FROM]->(:Source)
RETURN path, [topic = (k)-[:IN_TOPIC]->(:Topic) | topic] AS topics
