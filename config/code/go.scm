; The captures are those of python.scm. The type of a method's receiver stands before its name.

(function_declaration name: (identifier) @name) @definition
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [(type_identifier) @within (pointer_type (type_identifier) @within)
    (generic_type type: (type_identifier) @within) (pointer_type (generic_type type: (type_identifier) @within))]))
  name: (field_identifier) @name) @definition
(type_declaration (type_spec name: (type_identifier) @name)) @definition

(source_file . (comment) @about)

(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @library))

(call_expression function: (selector_expression field: (field_identifier) @_verb)
  arguments: (argument_list . (interpreted_string_literal (interpreted_string_literal_content) @endpoint))
  (#any-of? @_verb "HandleFunc" "Handle" "GET" "POST" "PUT" "PATCH" "DELETE" "Get" "Post" "Put" "Patch" "Delete")
  (#match? @endpoint "/"))
(keyed_element (literal_element (identifier) @_makes)
  (literal_element (interpreted_string_literal (interpreted_string_literal_content) @command)) (#eq? @_makes "Use"))

(call_expression function: (selector_expression field: (field_identifier) @_reads)
  arguments: (argument_list . (interpreted_string_literal (interpreted_string_literal_content) @configuration))
  (#any-of? @_reads "Getenv" "LookupEnv"))
