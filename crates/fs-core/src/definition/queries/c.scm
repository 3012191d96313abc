; A variable of another file is no definition.
((declaration (storage_class_specifier) @_extern) @none
  (#eq? @_extern "extern"))

; Without a type it may be a macro with a block, which has its place in functions.
(function_definition type: (_) declarator: (_) @function)
(function_definition) @function.outer
(struct_specifier name: (_) @struct body: (_))
(union_specifier name: (_) @struct body: (_))
(enum_specifier name: (_) @enum body: (_))
(enumerator name: (identifier) @variant)
(type_definition declarator: (_) @type)
(preproc_def name: (identifier) @macro)
(preproc_function_def name: (identifier) @macro)
(field_declaration declarator: (_) @field)
(declaration declarator: (_) @variable.outer)
