"""Judges of whether two texts state the same: a cross-encoder, or a user's own object."""
