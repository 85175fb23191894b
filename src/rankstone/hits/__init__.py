"""The second station of the road: align a run with the judgments and keep only where the hits are.

Comes in: judgments and a stream of tables.  Goes out: :class:`~rankstone.hits.ragged.Hits`, an audit.
Polars and NumPy; no measure, no file.
"""
