"""Bugs of other libraries, and measures only they have: replayed under their names, offered under no other.

A replay is a measure like any other, a value over hits; a data file names it ``replay:<file>.<Class>@<k>``.
"""
