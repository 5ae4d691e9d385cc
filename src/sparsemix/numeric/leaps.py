"""Leaps of accelerated EM (SQUAREM): the limit of their length grows while it binds, and shrinks after a fall."""

SHORTEST_LIMIT, GROWTH = 4.0, 4.0
KEPT = 0.1  # share of each number that a leap leaves at least: none becomes negative
