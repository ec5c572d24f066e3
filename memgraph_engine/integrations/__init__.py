"""The surfaces that other programs reach a memory by, one file each; the core imports none of them."""
