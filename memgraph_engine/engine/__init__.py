"""What an engine is made of: its parts put together from the settings, and the account of what its calls cost."""
