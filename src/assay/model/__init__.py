"""From prompts to generations and hidden states, with complete identities."""
