"""Clicks as judgments: how relevant documents are, from logs of what was shown and clicked.

Comes in: impressions, a row each with a query, a document and whether it was clicked.  Goes out: a grade for
every pair of query and document, with how sure it is.  Rows are counted in streaming passes into cells (pair,
position, value); everything is computed from these in one order, so that neither the order of rows nor the
number of files changes a number.
"""

from __future__ import annotations

from rankstone.behaviour.clicking.conduct import clicks
from rankstone.behaviour.clicking.result import Clicks

__all__ = ["Clicks", "clicks"]
