// What decisions told of somebody's profile, as far as it can be read: its words are there as they were then, and a note tells
// them that can be read, or was replaced. What was set by a program has no note, and perhaps no words.
// $scope: string    the scope
// $subject: string    whose profile, in small letters; '' for the user's own
// $known_at: datetime    as the memory knew it then: decisions and versions made by then, and not undone
// $statuses: list<string>    of notes that hold, or held until they were replaced
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back
// $present: datetime    what is to be erased by then is gone
// returns decision, at [ms], delta, source, note, said_at [ms] or null, until [ms] (when the note was replaced) or null,
//         changes [note, at (ms), former: the words of the note that are true no more, null for all] by notes that tell what is so since
MATCH (d:Decision {scope: $scope, subject: $subject})
WHERE d.at <= $known_at
  AND (d.undone_by IS NULL OR EXISTS { MATCH (u:Decision {scope: $scope, id: d.undone_by}) WHERE u.at > $known_at })
WITH d, coalesce(d.sources[0], '') AS source
CALL (d, source) {
  WITH d, source WHERE source = ''
  RETURN null AS said_at, null AS until, [] AS changes
  UNION
  WITH d, source WHERE d.note = ''
  MATCH (x:Source|PastSource {scope: $scope, id: source})
  WHERE (x:Source OR x.superseded_at > $known_at) AND x.expires_at > $alive AND x.erase_at > $present AND x.apart IS NULL
  RETURN x.said_at AS said_at, null AS until, [] AS changes LIMIT 1
  UNION
  WITH d, source WHERE d.note <> ''
  MATCH (x:Source|PastSource {scope: $scope, id: source}) WHERE x.hash = d.hash
  MATCH (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note|Past)
  WITH x, n, CASE WHEN n:Past THEN n.was ELSE n.status END AS status
  WHERE n.recorded_at <= $known_at AND (n:Note OR n.superseded_at > $known_at) AND status IN $statuses
    AND n.expires_at > $alive AND n.erase_at > $present AND n.apart IS NULL
    AND coalesce(n.constructed_by, '') <> 'user' // then it says something else than its sources
  WITH x, n, status ORDER BY status
  WITH collect({said_at: x.said_at, until: CASE status WHEN 'superseded' THEN n.valid_to END, note: n.id}) AS told
  WITH told[0] AS told WHERE told IS NOT NULL
  RETURN told.said_at AS said_at, told.until AS until, COLLECT {
    MATCH (:Note {scope: $scope, id: told.note})<-[r:RELATED {kind: 'change'}]-(m:Note)
    WHERE m.status IN $statuses AND m.recorded_at <= $known_at AND m.expires_at > $alive AND m.erase_at > $present AND m.apart IS NULL
    RETURN {note: m.id, at: m.said_at.epochMillis, former: r.former} } AS changes
}
RETURN d.id AS decision, d.at.epochMillis AS at, d.delta AS delta, source, d.note AS note, said_at.epochMillis AS said_at, until.epochMillis AS until, changes
ORDER BY d.version, d.place
