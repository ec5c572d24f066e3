"""Chat models: roles that ask them, prompts, answers that are checked, budgets that are kept."""
