"""From hits to a context that can be cited, and from the context to an answer."""
