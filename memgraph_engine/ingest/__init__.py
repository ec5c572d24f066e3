"""From what comes in to candidate notes."""
