"""Blocks: notes that belong together, in a tree (LightMem, seed 001): a derived layer over notes, as topics are."""
