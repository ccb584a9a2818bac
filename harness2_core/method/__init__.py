"""The method, pure: missions, evidence, ballots, reflection and library views from values and texts.

Nothing here touches a disk, a clock or the environment; the one read is that of the packaged mission texts. Functions
that lay out files return a `layout.Bundle`: a manifest, the blobs that may be new to the store, and words about both.
"""
