; The captures are those of python.scm.

[(function_definition declarator: (function_declarator declarator: (_) @name))
 (function_definition declarator: (_ (function_declarator declarator: (_) @name)))
 (template_declaration (function_definition declarator: (function_declarator declarator: (_) @name)))
 (type_definition declarator: (type_identifier) @name)
 (enum_specifier name: (type_identifier) @name body: (_))
 (union_specifier name: (type_identifier) @name body: (_))
 (preproc_function_def name: (identifier) @name)] @definition
[(class_specifier name: (_) @name body: (_))
 (struct_specifier name: (_) @name body: (_))
 (template_declaration [(class_specifier name: (_) @name body: (_)) (struct_specifier name: (_) @name body: (_))])
 (namespace_definition name: (_) @name)] @container

(translation_unit . (comment) @about)

(preproc_include path: [(system_lib_string) (string_literal)] @library)

(call_expression function: (_) @_reads arguments: (argument_list . (string_literal (string_content) @configuration))
  (#any-of? @_reads "getenv" "std::getenv" "secure_getenv"))
