"""Selectors: pick one candidate of a ballot by what it delivered. They know ids and contents, nothing else."""
