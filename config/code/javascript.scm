; The captures are those of python.scm.

[(function_declaration name: (_) @name)
 (generator_function_declaration name: (_) @name)
 (export_statement declaration: [(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)])
 (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]))
 (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)])))
 (method_definition name: (_) @name)] @definition
[(class_declaration name: (_) @name)
 (export_statement declaration: (class_declaration name: (_) @name))] @container

(program . (comment) @about)

(import_statement source: (string (string_fragment) @library))
(call_expression function: (identifier) @_loads arguments: (arguments . (string (string_fragment) @library)) (#eq? @_loads "require"))

(call_expression function: (member_expression property: (property_identifier) @_verb)
  arguments: (arguments . (string (string_fragment) @endpoint)) (#any-of? @_verb "get" "post" "put" "patch" "delete" "route")
  (#match? @endpoint "^/"))
(call_expression function: (member_expression property: (property_identifier) @_makes)
  arguments: (arguments . (string (string_fragment) @command)) (#any-of? @_makes "command" "option"))

(member_expression object: (member_expression property: (property_identifier) @_environment)
  property: (property_identifier) @configuration (#eq? @_environment "env"))
(subscript_expression object: (member_expression property: (property_identifier) @_environment)
  index: (string (string_fragment) @configuration) (#eq? @_environment "env"))
