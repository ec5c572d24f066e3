// Forget that readers were given notes that are about to be removed, and what they asked then; a retrieval that gave nothing else goes.
// Of one that gave a note that is made anew, what was asked is forgotten, as it may be about what that note no longer says.
// $scope: string    the notes'
// $scopes: list<string>    the readers'
// $gone: list<string>    the notes that go
// $kept: list<string>    the notes that are made anew
// $sessions: list<string>    of what is erased: they are named no more, unless something of them stays
// $until: datetime    until when it must have been, or null: of notes of the same id that were made anew it is later
// $rows: integer    nodes in one transaction
MATCH (r:Retrieval) WHERE r.scope IN $scopes AND r.id >= '' AND ($until IS NULL OR r.at <= $until)
WITH r, any(id IN r.notes WHERE id IN $gone OR id IN $kept) AS named
WHERE named OR r.scope = $scope AND r.session IN $sessions
CALL (r, named) {
  WITH r, named, [place IN range(0, size(r.notes) - 1) WHERE NOT r.notes[place] IN $gone] AS places, r.session IN $sessions AND NOT EXISTS {
    MATCH (x:Source {scope: $scope, session: r.session}) WHERE x.seq >= 0 AND x.erase_at > datetime('0001-01-01T00:00:00Z')
  } AS ended
  WITH r, named, ended, places, [place IN places | r.notes[place]] AS notes, [place IN places | r.revisions[place]] AS revisions
  SET r.utilities = CASE WHEN r.utilities IS NOT NULL THEN [place IN places | r.utilities[place]] END,
      r.notes = notes, r.revisions = revisions, r.question = CASE WHEN named THEN null ELSE r.question END,
      r.session = CASE WHEN ended THEN '' ELSE r.session END
  WITH r WHERE size(r.notes) = 0
  DELETE r
} IN TRANSACTIONS OF $rows ROWS
