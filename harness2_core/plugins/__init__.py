"""Plugins: what is installed, which of it is used, and how it is configured.

`discovery` reads metadata; `catalog` looks names up in it; `registry` imports what is used; `facade` gives typed
calls. `config` layers file, environment and options; `settings` turns them into a provider's settings class.
"""
