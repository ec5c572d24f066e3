"""What a memory is made of, and what a user may exchange."""
