// The scope's sums as kept, and as recounted.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// returns notes, raw_length, context_length, counted {notes, raw_length, context_length}
MATCH (s:Scope {scope: $scope})
CALL () {
  MATCH (n:Note {scope: $scope}) WHERE n.id >= '' AND n.status IN $statuses
  RETURN count(n) AS notes,
         sum(size([t IN split(n.raw_terms, ' ') WHERE t <> ''])) AS raw_length,
         sum(size([t IN split(n.context_terms, ' ') WHERE t <> ''])) AS context_length
}
RETURN s.notes AS notes, s.raw_length AS raw_length, s.context_length AS context_length,
       {notes: notes, raw_length: raw_length, context_length: context_length} AS counted
