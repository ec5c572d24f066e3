// How many notes with keywords came to a memory since its topics were found, in the memory of a tenant that has most of them.
// $tenant: string    the tenant
// returns notes, 0 where there is no memory
MATCH (s:Scope) WHERE s.tenant = $tenant
RETURN coalesce(max(s.notes_since), 0) AS notes
