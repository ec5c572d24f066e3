"""Claims: what notes say that holds in general (LightMem, section 3.6): a derived layer over notes, as blocks are."""
