"""How long what is remembered lives: policy classes, the rules that assign them, and what leaves a full memory."""
