; The captures are those of python.scm.

[(function_item name: (identifier) @name)
 (function_signature_item name: (identifier) @name)
 (struct_item name: (type_identifier) @name)
 (enum_item name: (type_identifier) @name)
 (union_item name: (type_identifier) @name)
 (type_item name: (type_identifier) @name)
 (macro_definition name: (identifier) @name)] @definition
[(impl_item type: [(type_identifier) @name (generic_type type: (type_identifier) @name) (scoped_type_identifier) @name])
 (trait_item name: (type_identifier) @name)
 (mod_item name: (identifier) @name body: (_))] @container

(source_file . (line_comment) @about)

(use_declaration argument: [
  (identifier) @library
  (scoped_identifier) @library
  (scoped_use_list path: (_) @library)
  (use_as_clause path: (_) @library)
  (use_wildcard (_) @library)])
(extern_crate_declaration name: (identifier) @library)

(call_expression function: (field_expression field: (field_identifier) @_verb)
  arguments: (arguments . (string_literal (string_content) @endpoint)) (#eq? @_verb "route"))
(attribute_item (attribute (identifier) @_verb arguments: (token_tree . (string_literal (string_content) @endpoint)))
  (#any-of? @_verb "get" "post" "put" "patch" "delete"))

(call_expression function: (scoped_identifier path: (_) @_environment name: (identifier) @_reads)
  arguments: (arguments . (string_literal (string_content) @configuration))
  (#match? @_environment "env$") (#any-of? @_reads "var" "var_os"))
(macro_invocation macro: (identifier) @_reads (token_tree . (string_literal (string_content) @configuration))
  (#any-of? @_reads "env" "option_env"))
