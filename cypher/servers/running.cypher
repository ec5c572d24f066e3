// The transactions of a tenant that run on a server.
// $tenant: string    whose
// $reading: boolean    whether those that only read are meant too
// returns id
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.tenant = $tenant AND ($reading OR metaData.writes)
RETURN id
