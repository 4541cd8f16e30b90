"""Tools of the bank, as a model sees them."""

from assay.sopbench.tools import either, identity, number, record, string, toolbox

PARAMETERS = {
    "username": string("Name of the account."),
    "identification": identity("What the user proves who they are with: the password, or the driver's licence."),
    "identification_new": identity("The new proof of identity: the password, or the driver's licence."),
    "admin_password": string("The administrator's password of the account."),
    "admin_password_new": string("The administrator's password from now on."),
    "username_new": string("Name of the account from now on; the present one to keep it."),
    "destination_username": string("Name of the account that receives the money."),
    "amount": number("How much, in the given unit."),
    "unit": string("Unit of the amount.", of=("dollar", "cent", "dollars", "cents")),
    "deposit_form": either(
        "In which form the money comes.",
        string("Cash."),
        record("A check.", check_name=string("Name on it."), check_routing_number=number("Its routing number.")),
    ),
    "bill_description": string("What the bill is for."),
    "card_number": string("Number of the credit card."),
    "total_assets": number("All that the user owns, in dollars."),
    "monthly_income": number("What the user earns in a month, in dollars."),
    "foreign_currency_type": string("Code of the foreign currency."),
    "loan_amount": number("Dollars to borrow."),
    "pay_owed_amount_request": number("Dollars to pay back."),
    "safety_box_new": string("What the safety box holds from now on."),
    "bank_total_cash": number("All cash of the bank, in dollars."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, identification)": "Log a user in with a proof of identity.",
        "logout_user(username)": "Log a user out.",
        "open_account(username, identification, admin_password)": (
            "Open an account with a proof of identity and an administrator's password."
        ),
        "authenticate_admin_password(username, admin_password)": (
            "Give the administrator's password of an account for the rest of the session."
        ),
        "set_admin_password(username, admin_password_new)": "Change the administrator's password of an account.",
        "set_account_information(username, username_new, identification_new)": (
            "Change the name and the proof of identity of an account."
        ),
        "close_account(username)": "Close an account and delete what belongs to it.",
        "get_account_balance(username)": "Tell the balance of an account.",
        "transfer_funds(username, destination_username, amount, unit)": "Move money from one account to another.",
        "deposit_funds(username, amount, unit, deposit_form)": "Pay cash or a check into an account.",
        "pay_bill(username, amount, unit, bill_description?, ...)": "Pay a bill from the balance of an account.",
        "pay_bill_with_credit_card(username, amount, card_number)": (
            "Pay a bill with one of the account's credit cards."
        ),
        "apply_credit_card(username, total_assets, monthly_income)": "Apply for a credit card.",
        "exchange_foreign_currency(amount, unit, foreign_currency_type)": (
            "Exchange dollars into a foreign currency at the bank's rate."
        ),
        "get_account_owed_balance(username)": "Tell how much an account owes the bank.",
        "get_loan(username, loan_amount)": "Lend money to an account.",
        "pay_loan(username, pay_owed_amount_request)": "Pay back a part of what an account owes, from its balance.",
        "get_safety_box(username)": "Tell what an account's safety box holds.",
        "set_safety_box(username, safety_box_new)": "Change what an account's safety box holds.",
        "get_credit_cards(username)": "List the credit cards of an account.",
        "get_credit_card_info(username, card_number)": "Show limit and balance of one credit card.",
        "cancel_credit_card(username, card_number)": "Cancel a credit card.",
        "get_bank_maximum_loan_amount(bank_total_cash?, ...)": (
            "Tell the largest loan that the bank can give at present."
        ),
        "internal_get_database()": "Show the whole database.",
        "internal_check_username_exist(username)": "Check whether an account of this name exists.",
        "internal_check_foreign_currency_available(foreign_currency_type)": "Check whether the bank trades a currency.",
        "internal_get_credit_score(username)": "Tell the credit score of an account's holder.",
        "internal_check_credit_card_exist(username, card_number)": (
            "Check whether an account has a credit card of this number."
        ),
    },
    hidden=("internal_get_database",),
    unpublished=("pay_bill_with_credit_card", "cancel_credit_card"),
)
