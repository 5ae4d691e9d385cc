"""Conjugate families and the search over partitions that several models share."""
