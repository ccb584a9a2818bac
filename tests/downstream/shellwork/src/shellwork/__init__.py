"""Harness2 plugins for harnesses that are shell scripts."""

__version__ = "0.4.dev1"
