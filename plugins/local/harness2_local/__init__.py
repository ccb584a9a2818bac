"""Harness2 on folders of your own: tasks from disk, programs as harnesses, a playbook as improver, programs as judges.

No model and no network take part, so it is also the quickest way to see the method at work: `examples/` holds tasks
with a base program that fails on them.
"""
