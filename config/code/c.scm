; The captures are those of python.scm.

(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]) @definition
[(struct_specifier name: (type_identifier) @name body: (_))
 (union_specifier name: (type_identifier) @name body: (_))
 (enum_specifier name: (type_identifier) @name body: (_))
 (type_definition declarator: (type_identifier) @name)
 (preproc_function_def name: (identifier) @name)] @definition

(translation_unit . (comment) @about)

(preproc_include path: [(system_lib_string) (string_literal)] @library)

(call_expression function: (identifier) @_reads arguments: (argument_list . (string_literal (string_content) @configuration))
  (#any-of? @_reads "getenv" "secure_getenv"))
