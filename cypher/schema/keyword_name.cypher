// One Keyword of a name in a scope.
CREATE CONSTRAINT keyword_name IF NOT EXISTS FOR (x:Keyword) REQUIRE (x.scope, x.name) IS UNIQUE
