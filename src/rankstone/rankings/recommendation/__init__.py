"""Recommendation lists beyond accuracy: coverage, diversity, novelty, popularity, exposure, calibration."""
