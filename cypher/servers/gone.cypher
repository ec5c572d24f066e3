// The tenants that have left a server, or are yet to come.
// returns tenant
MATCH (m:Presence) WHERE m.state IN ['gone', 'coming']
RETURN m.tenant AS tenant
