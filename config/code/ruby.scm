; The captures are those of python.scm.

[(method name: (_) @name)
 (singleton_method name: (_) @name)] @definition
[(class name: (_) @name)
 (module name: (_) @name)] @container

(program . (comment) @about)

(call method: (identifier) @_loads arguments: (argument_list . (string (string_content) @library))
  (#any-of? @_loads "require" "require_relative"))

(call method: (identifier) @_verb arguments: (argument_list . (string (string_content) @endpoint))
  (#any-of? @_verb "get" "post" "put" "patch" "delete") (#match? @endpoint "^/"))
(call method: (identifier) @_makes arguments: (argument_list . (string (string_content) @command))
  (#any-of? @_makes "desc" "option"))

(element_reference object: (constant) @_environment (string (string_content) @configuration) (#eq? @_environment "ENV"))
(call receiver: (constant) @_environment arguments: (argument_list . (string (string_content) @configuration))
  (#eq? @_environment "ENV"))
