// One Scope a scope.
CREATE CONSTRAINT scope_scope IF NOT EXISTS FOR (x:Scope) REQUIRE x.scope IS UNIQUE
