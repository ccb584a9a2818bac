"""Modes: pure functions from k to a plan. `parallel` and `sequential` improve; `sampling` and `null` are controls."""
