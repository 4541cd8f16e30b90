"""Rule tables of the bank: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exist(username)",
        "transfer_funds": "amount_positive_restr(amount)",
        "deposit_funds": "amount_positive_restr(amount)",
        "pay_bill": "amount_positive_restr(amount)",
        "pay_bill_with_credit_card": "amount_positive_restr(amount)",
        "pay_loan": "amount_positive_restr(amount=pay_owed_amount_request)",
        "get_credit_card_info": "internal_check_credit_card_exist(username, card_number)",
        "cancel_credit_card": "internal_check_credit_card_exist(username, card_number)",
        "internal_get_credit_score": "internal_check_username_exist(username)",
        "internal_check_credit_card_exist": "internal_check_username_exist(username)",
    },
    required={
        "open_account": "not internal_check_username_exist(username)",
        "authenticate_admin_password": "logged_in_user(username)",
        "set_admin_password": "authenticated_admin_password(username)",
        "set_account_information": "logged_in_user(username)",
        "close_account": "logged_in_user(username)",
        "get_account_balance": "internal_check_username_exist(username)",
        "transfer_funds": (
            "and[internal_check_username_exist(username), internal_check_username_exist(username=destination_username)]"
        ),
        "deposit_funds": "internal_check_username_exist(username)",
        "pay_bill": "internal_check_username_exist(username)",
        "pay_bill_with_credit_card": "internal_check_username_exist(username)",
        "apply_credit_card": "internal_check_username_exist(username)",
        "exchange_foreign_currency": "internal_check_foreign_currency_available(foreign_currency_type)",
        "get_account_owed_balance": "internal_check_username_exist(username)",
        "get_loan": "internal_check_username_exist(username)",
        "pay_loan": "internal_check_username_exist(username)",
        "get_safety_box": "internal_check_username_exist(username)",
        "set_safety_box": "internal_check_username_exist(username)",
        "get_credit_cards": "internal_check_username_exist(username)",
        "get_credit_card_info": "internal_check_username_exist(username)",
        "cancel_credit_card": "internal_check_username_exist(username)",
        "get_bank_maximum_loan_amount": "call_get_database()",
    },
    customizable={
        "logout_user": "internal_check_username_exist(username)",
        "open_account": "and[no_owed_balance(username), no_credit_card_balance(username)]",
        "set_account_information": "authenticated_admin_password(username)",
        "close_account": "authenticated_admin_password(username)",
        "get_account_balance": "logged_in_user(username)",
        "transfer_funds": (
            "and[logged_in_user(username), authenticated_admin_password(username), "
            "sufficient_account_balance(username, amount)]"
        ),
        "deposit_funds": "and[maximum_deposit_limit(unit, amount), logged_in_user(username)]",
        "pay_bill": "and[sufficient_account_balance(username, amount), logged_in_user(username)]",
        "pay_bill_with_credit_card": (
            "and[not_over_credit_limit(username, amount, card_number), logged_in_user(username)]"
        ),
        "apply_credit_card": "and[minimal_elgibile_credit_score(username), logged_in_user(username)]",
        "exchange_foreign_currency": "maximum_exchange_amount(amount, unit)",
        "get_account_owed_balance": "logged_in_user(username)",
        "get_loan": (
            "and[logged_in_user(username), get_loan_owed_balance_restr(username), "
            "minimal_elgibile_credit_score(username)]"
        ),
        "pay_loan": (
            "and[logged_in_user(username), or[pay_loan_account_balance_restr(username), "
            "pay_loan_amount_restr(username, pay_owed_amount_request)]]"
        ),
        "get_safety_box": "and[authenticated_admin_password(username), logged_in_user(username)]",
        "set_safety_box": (
            "and[logged_in_user(username), authenticated_admin_password(username), "
            "safety_box_eligible(username), minimal_elgibile_credit_score(username)]"
        ),
        "get_credit_cards": "and[authenticated_admin_password(username), logged_in_user(username)]",
        "get_credit_card_info": "logged_in_user(username)",
        "cancel_credit_card": (
            "and[logged_in_user(username), authenticated_admin_password(username), "
            "no_credit_card_balance_on_card(username, card_number)]"
        ),
    },
    links={
        "logged_in_user": "login_user(username)",
        "authenticated_admin_password": "authenticate_admin_password(username)",
    },
    dependencies={
        "sufficient_account_balance": "internal_check_username_exist(username)",
        "get_loan_owed_balance_restr": "internal_check_username_exist(username)",
        "pay_loan_account_balance_restr": "internal_check_username_exist(username)",
        "pay_loan_amount_restr": "internal_check_username_exist(username)",
        "minimal_elgibile_credit_score": "internal_check_username_exist(username)",
        "no_owed_balance": "internal_check_username_exist(username)",
        "no_credit_card_balance": "internal_check_username_exist(username)",
        "no_credit_card_balance_on_card": "internal_check_credit_card_exist(username, card_number)",
        "safety_box_eligible": "internal_check_username_exist(username)",
        "not_over_credit_limit": "internal_check_username_exist(username)",
    },
    processes={
        "sufficient_account_balance": "or[get_account_balance(username), internal_get_database()]",
        "get_loan_owed_balance_restr": "or[get_account_owed_balance(username), internal_get_database()]",
        "pay_loan_account_balance_restr": (
            "or[and[get_account_balance(username), get_account_owed_balance(username)], internal_get_database()]"
        ),
        "pay_loan_amount_restr": "or[get_account_balance(username), internal_get_database()]",
        "minimal_elgibile_credit_score": "or[internal_get_credit_score(username), internal_get_database()]",
        "no_owed_balance": "or[get_account_owed_balance(username), internal_get_database()]",
        "no_credit_card_balance": "or[get_credit_cards(username), internal_get_database()]",
        "no_credit_card_balance_on_card": (
            "or[get_credit_card_info(username, card_number), get_credit_cards(username), internal_get_database()]"
        ),
        "safety_box_eligible": "or[get_account_balance(username), internal_get_database()]",
        "not_over_credit_limit": (
            "or[get_credit_card_info(username, card_number), get_credit_cards(username), internal_get_database()]"
        ),
        "internal_check_username_exist": "or[internal_check_username_exist(username), internal_get_database()]",
        "internal_check_foreign_currency_available": (
            "or[internal_check_foreign_currency_available(foreign_currency_type), internal_get_database()]"
        ),
        "internal_check_credit_card_exist": (
            "or[internal_check_credit_card_exist(username, card_number), get_credit_card_info(username, "
            "card_number), get_credit_cards(username), internal_get_database()]"
        ),
        "call_get_database": "internal_get_database()",
    },
    limits={
        "maximum_deposit": 10000,
        "maximum_exchange": 3000,
        "maximum_owed_balance": 500,
        "minimum_account_balance_safety_box": 300,
        "minimum_credit_score": 600,
    },
)
