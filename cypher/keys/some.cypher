// Whether there is a key, of any tenant, or ever was one: a server whose database has had none asks for none on loopback.
// $alive: datetime    the present
// $ended: boolean    whether one that was revoked, has ended or was removed counts too
// returns name: of the store; no row if there is none
MATCH (s:Store {name: 'store'})
WHERE $ended AND s.keyed
   OR EXISTS { MATCH (k:Key) WHERE k.hash >= '' AND ($ended OR (k.revoked_at > $alive AND k.expires_at > $alive)) }
RETURN s.name AS name
