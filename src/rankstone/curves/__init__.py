"""What becomes of curves: means and bands over queries, noise, crossings, the cutoff that reaches a target.

Comes in: heights of every query, traced along the road.  Goes out: frames.  Scores nothing.
"""

from rankstone.curves.means import RunCurves
from rankstone.curves.resampling import Resampling
from rankstone.curves.result import Curves

__all__ = ["Curves", "Resampling", "RunCurves"]
