"""Whole lists beyond accuracy: what a run does to the catalogue, to its users and to groups of either.

Comes in: a run's lists, and tables of items, past interactions, judgments and users.  Goes out: values a
user and values a run, by measures that are frozen values like all others.  Only arrays of small whole
numbers are worked on; ids are left behind where the lists are read.
"""
