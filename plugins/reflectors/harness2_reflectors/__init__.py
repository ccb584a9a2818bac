"""Reflectors: at most one lesson of a finished round, for later tasks of the same domain."""
