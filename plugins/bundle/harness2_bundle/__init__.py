"""The distribution `harness2`: the core and the default plugins by its dependencies, and the table of defaults."""
