"""Errors, types and checks: the ground that every other layer stands on."""
