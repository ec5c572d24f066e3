// Fail unless a tenant is on this server, or where it is to be written to while nothing of it is written. What can't be read as a
// date is told in the error: so whoever asks learns it in the same round trip, and nothing of the statement behind is done.
CALL () {
  OPTIONAL MATCH (m:Presence {tenant: $here.tenant})
  WHERE m.state IN ['coming', 'gone'] OR $here.writes AND m.state = 'stopped' AND m.until > timestamp()
  WITH CASE WHEN m IS NOT NULL THEN date('away ' + m.state) END AS fails
  RETURN count(fails) AS away
}
