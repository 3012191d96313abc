; What a module takes from another is no definition of its own.
((variable_declarator name: (_) @none value: (call_expression function: (identifier) @_require))
  (#eq? @_require "require"))
((variable_declarator name: (_) @none value: (member_expression object: (call_expression function: (identifier) @_require)))
  (#eq? @_require "require"))
(variable_declarator name: (_) @none value: (await_expression (call_expression function: (import))))
((assignment_expression left: (member_expression property: (property_identifier) @none))
  (#any-of? @none "exports" "prototype"))

(class name: (_) @class)
(class_declaration name: (_) @class)
(method_definition name: (_) @method)
(function_declaration name: (identifier) @function)
(generator_function_declaration name: (identifier) @function)
(function_expression name: (identifier) @function)
(generator_function name: (identifier) @function)
(variable_declarator name: (identifier) @class value: (class))
(variable_declarator name: (identifier) @function
  value: [(arrow_function) (function_expression) (generator_function)])
(assignment_expression
  left: [(identifier) @function (member_expression property: (_) @function)]
  right: [(arrow_function) (function_expression) (generator_function) (class)])
(pair key: (property_identifier) @method
  value: [(arrow_function) (function_expression) (generator_function)])
(variable_declarator name: (identifier) @variable.outer)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @variable.outer))
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @variable.outer)))
(variable_declarator name: (array_pattern (identifier) @variable.outer))
