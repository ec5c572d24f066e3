; What is looked for in a file: the captures that `ingest/code.py` knows.
;   @definition   what is a piece of its own, and its @name
;   @container    the same, but a long one is cut at the definitions inside it
;   @about        what the file says of itself in its beginning
;   @library @endpoint @command @configuration    keywords; what is quoted, without its quotation marks
; Other captures, with _ in front, are only compared.

[(function_definition name: (identifier) @name)
 (decorated_definition definition: (function_definition name: (identifier) @name))] @definition
[(class_definition name: (identifier) @name)
 (decorated_definition definition: (class_definition name: (identifier) @name))] @container

(module . (comment)* . (expression_statement (string (string_content) @about)))

(import_statement name: [(dotted_name) @library (aliased_import name: (dotted_name) @library)])
(import_from_statement module_name: [(dotted_name) @library (relative_import (dotted_name) @library)])

(decorator (call function: (attribute attribute: (identifier) @_verb) arguments: (argument_list . (string (string_content) @endpoint)))
  (#any-of? @_verb "get" "post" "put" "patch" "delete" "head" "options" "route" "api_route" "websocket"))

(decorated_definition
  (decorator [
    (call function: [(identifier) @_makes (attribute attribute: (identifier) @_makes)])
    (identifier) @_makes
    (attribute attribute: (identifier) @_makes)])
  definition: (function_definition name: (identifier) @command)
  (#any-of? @_makes "command" "group" "callback"))
(call function: [(identifier) @_makes (attribute attribute: (identifier) @_makes)]
  arguments: (argument_list (string (string_content) @command))
  (#any-of? @_makes "command" "group" "option" "Option" "add_argument" "add_parser"))

(subscript value: [(identifier) @_environment (attribute attribute: (identifier) @_environment)]
  subscript: (string (string_content) @configuration) (#eq? @_environment "environ"))
(call function: (attribute object: [(identifier) @_environment (attribute attribute: (identifier) @_environment)])
  arguments: (argument_list . (string (string_content) @configuration)) (#eq? @_environment "environ"))
(call function: [(identifier) @_reads (attribute attribute: (identifier) @_reads)]
  arguments: (argument_list . (string (string_content) @configuration)) (#eq? @_reads "getenv"))
(keyword_argument name: (identifier) @_names value: (string (string_content) @configuration)
  (#any-of? @_names "envvar" "env_prefix" "auto_envvar_prefix"))
