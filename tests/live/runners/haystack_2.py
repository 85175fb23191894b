"""Haystack 2's own numbers: the metrics of later versions, in which a copy counts again."""

LIKE = "haystack.py"
LIBRARY = "haystack-2.31"
REQUIRES = ["haystack-ai==2.31.*"]
