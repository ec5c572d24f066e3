// Whether there is a key, of any tenant: a server whose database has none asks for none on loopback.
// $alive: datetime    the present
// $ended: boolean    whether one that was revoked, or has ended, counts too
// returns id
MATCH (k:Key) WHERE k.hash >= '' AND ($ended OR (k.revoked_at > $alive AND k.expires_at > $alive))
RETURN k.id AS id LIMIT 1
