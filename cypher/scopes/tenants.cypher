// All tenants of the database, by name: an operator's list.
// returns name, users, notes
MATCH (s:Scope)
RETURN s.tenant AS name, sum(CASE s.user WHEN '' THEN 0 ELSE 1 END) AS users, sum(s.notes) AS notes ORDER BY name
