"""Extras: what only some measures and options need of alignment, a file each.

None of them is imported before a measure, an option or a column asks for it (``hits/requested_extras.py``).
"""
