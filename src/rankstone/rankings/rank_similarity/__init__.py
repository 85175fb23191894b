"""Similarity of two rankings: rank-biased overlap, rank correlation, overlap, distances."""
