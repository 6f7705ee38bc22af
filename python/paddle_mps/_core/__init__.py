"""Tensors as objects, and what every module needs: the library, its errors, element types, places, conversions of arguments.

Imports: no other room.

A tensor owns one handle of the library, which is freed with it. Modules here compute nothing: they know no operator, no current
device and no gradient. `_library` is the only one that knows where the file of the library is; `_errors` makes exceptions of its
errors; `_typing` has the types of signatures.
"""
