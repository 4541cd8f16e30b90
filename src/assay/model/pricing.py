"""What an endpoint's tokens cost."""

from typing import Any

from assay.config.models import Price


def cost(price: Price | None, prompt_tokens: int, new_tokens: int) -> dict[str, Any] | None:
    """Return amount and currency of the tokens that were made now; None without a price table."""
    if price is None:
        return None
    amount = (prompt_tokens * price.input_per_million + new_tokens * price.output_per_million) / 1e6
    return {"amount": round(amount, 6), "currency": price.currency}
