; The captures are those of python.scm.

[(method_declaration name: (identifier) @name)
 (constructor_declaration name: (identifier) @name)] @definition
[(class_declaration name: (identifier) @name)
 (interface_declaration name: (identifier) @name)
 (enum_declaration name: (identifier) @name)
 (record_declaration name: (identifier) @name)] @container

(program . [(line_comment) (block_comment)] @about)

(import_declaration (scoped_identifier) @library)

(annotation name: (identifier) @_verb
  arguments: (annotation_argument_list [(string_literal (string_fragment) @endpoint)
    (element_value_pair value: (string_literal (string_fragment) @endpoint))])
  (#any-of? @_verb "GetMapping" "PostMapping" "PutMapping" "PatchMapping" "DeleteMapping" "RequestMapping" "Path"))
(annotation name: (identifier) @_makes
  arguments: (annotation_argument_list (element_value_pair value: (string_literal (string_fragment) @command)))
  (#any-of? @_makes "Command" "Option"))

(method_invocation name: (identifier) @_reads arguments: (argument_list . (string_literal (string_fragment) @configuration))
  (#any-of? @_reads "getenv" "getProperty"))
(annotation name: (identifier) @_reads arguments: (annotation_argument_list (string_literal (string_fragment) @configuration))
  (#eq? @_reads "Value"))
