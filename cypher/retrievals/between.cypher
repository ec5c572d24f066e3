// What a reader was given between two times, both included, the newest first.
// $scope: string    the reader's
// $since: datetime    the first time
// $until: datetime    the last time
// $notes: list<string>    that gave one of these, or null for any
// returns id, at [ms], call, agent, session, question or null, notes [ids], revisions, utilities or null
MATCH (r:Retrieval {scope: $scope}) WHERE r.at >= $since AND r.at <= $until AND ($notes IS NULL OR any(id IN r.notes WHERE id IN $notes))
RETURN r.id AS id, r.at.epochMillis AS at, r.call AS call, r.agent AS agent, r.session AS session, r.question AS question,
       r.notes AS notes, r.revisions AS revisions, r.utilities AS utilities
ORDER BY r.at DESC, id
