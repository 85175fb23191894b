"""Hooks into the libraries that train, tune and compare rankers; one module a library.

Nothing here imports a library before it is asked for, and none of them is a dependency.
"""
