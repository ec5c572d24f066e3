// Lock what a server says of a tenant `m`, and go on only if nobody has taken its move up since.
MATCH (m:Presence {tenant: $tenant})
SET m.lock = true
WITH m WHERE m.mover <= $mover
