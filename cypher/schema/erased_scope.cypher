// What an erasure of everything took, until it is removed.
CREATE INDEX erased_scope IF NOT EXISTS FOR (x:Erased) ON (x.scope, x.erasure)
