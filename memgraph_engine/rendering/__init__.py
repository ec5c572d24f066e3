"""How sources read: rendered lines, self-contained contexts, dates resolved."""
