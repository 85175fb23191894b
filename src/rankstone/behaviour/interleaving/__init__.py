"""Interleaving: two rankings shown as one list, and which of them users prefer.

Comes in: two runs.  Goes out: lists to show.  Comes in: what was clicked in them.  Goes out: wins, losses and
ties, a preference with its interval, tests.
"""

from __future__ import annotations

from rankstone.behaviour.interleaving.building import interleave
from rankstone.behaviour.interleaving.lists import Interleaved
from rankstone.behaviour.interleaving.outcome import Preference
from rankstone.behaviour.interleaving.testing import interleaving_preference

__all__ = ["Interleaved", "Preference", "interleave", "interleaving_preference"]
