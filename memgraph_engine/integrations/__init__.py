"""The engine behind the interfaces of other projects: one file for each, which imports that project's package.

Nothing else of this package imports them, and each needs an extra of the same name.
"""
