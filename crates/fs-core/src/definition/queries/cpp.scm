(function_definition declarator: (_) @none (delete_method_clause))
(field_declaration_list (function_definition declarator: (_) @method))
(field_declaration_list (template_declaration (function_definition declarator: (_) @method)))
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @method))
(field_declaration declarator: (_) @method default_value: (number_literal) @_zero
  (#eq? @_zero "0"))
(class_specifier name: (_) @class body: (_))
(namespace_definition name: (namespace_identifier) @module)
(namespace_definition name: (nested_namespace_specifier (namespace_identifier) @module))
(namespace_definition name: (nested_namespace_specifier
  (nested_namespace_specifier (namespace_identifier) @module)))
(namespace_alias_definition name: (namespace_identifier) @module)
(alias_declaration name: (type_identifier) @type)
(concept_definition name: (identifier) @type)

