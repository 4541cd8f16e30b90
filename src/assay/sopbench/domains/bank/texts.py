"""What a model is told about the bank: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import ADMINISTRATOR
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the customers of a bank: accounts, cards, loans and foreign currency.",
    conditions=ADMINISTRATOR
    | {
        "internal_check_foreign_currency_available": (
            "the bank trades the currency {foreign_currency_type}",
            "the bank does not trade the currency {foreign_currency_type}",
        ),
        "internal_check_credit_card_exist": (
            ("the account of {username} has a credit card with number {card_number}"),
            ("the account of {username} has no credit card with number {card_number}"),
        ),
        "sufficient_account_balance": "the balance of {username} is at least {amount}",
        "get_loan_owed_balance_restr": (
            "the account of {username} owes less than {limits[maximum_owed_balance]} dollars"
        ),
        "pay_loan_account_balance_restr": "the balance of {username} is at least what the account owes",
        "pay_loan_amount_restr": ("the balance of {username} is at least {pay_owed_amount_request}"),
        "amount_positive_restr": "{amount} is more than zero",
        "minimal_elgibile_credit_score": ("the credit score of {username} is above {limits[minimum_credit_score]}"),
        "no_owed_balance": "the account of {username} owes nothing",
        "no_credit_card_balance": "no credit card of {username} has a balance",
        "no_credit_card_balance_on_card": "the credit card {card_number} of {username} has no balance",
        "safety_box_eligible": (
            "the balance of {username} is at least {limits[minimum_account_balance_safety_box]} dollars"
        ),
        "maximum_deposit_limit": ("{amount}, in {unit}, is at most {limits[maximum_deposit]} dollars"),
        "maximum_exchange_amount": ("{amount}, in {unit}, is at most {limits[maximum_exchange]} dollars"),
        "not_over_credit_limit": (
            "{amount} fits into what is left of the limit of the credit card {card_number} of {username}"
        ),
        "call_get_database": "the whole database was looked at",
    },
)
