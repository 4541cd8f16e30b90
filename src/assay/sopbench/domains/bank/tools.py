"""Tools of the bank, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import either, number, record, string, tool

USERNAME = string("Name of the account.")
IDENTIFICATION = either(
    "What the user proves who they are with: the password, or the driver's licence.",
    string("The password."),
    record(
        "The driver's licence.",
        drivers_license_id=string("Number of the licence."),
        drivers_license_state=string("State that issued it."),
    ),
)
IDENTIFICATION_NEW = either(
    "The new proof of identity: the password, or the driver's licence.",
    string("The password."),
    record(
        "The driver's licence.",
        drivers_license_id=string("Number of the licence."),
        drivers_license_state=string("State that issued it."),
    ),
)
ADMIN_PASSWORD = string("The administrator's password of the account.")
ADMIN_PASSWORD_NEW = string("The administrator's password from now on.")
USERNAME_NEW = string("Name of the account from now on; the present one to keep it.")
DESTINATION_USERNAME = string("Name of the account that receives the money.")
AMOUNT = number("How much, in the given unit.")
UNIT = string("Unit of the amount.", of=("dollar", "cent", "dollars", "cents"))
DEPOSIT_FORM = either(
    "In which form the money comes.",
    string("Cash."),
    record("A check.", check_name=string("Name on it."), check_routing_number=number("Its routing number.")),
)
BILL_DESCRIPTION = string("What the bill is for.")
CARD_NUMBER = string("Number of the credit card.")
TOTAL_ASSETS = number("All that the user owns, in dollars.")
MONTHLY_INCOME = number("What the user earns in a month, in dollars.")
FOREIGN_CURRENCY_TYPE = string("Code of the foreign currency.")
LOAN_AMOUNT = number("Dollars to borrow.")
PAY_OWED_AMOUNT_REQUEST = number("Dollars to pay back.")
SAFETY_BOX_NEW = string("What the safety box holds from now on.")
BANK_TOTAL_CASH = number("All cash of the bank, in dollars.")

TOOLBOX = Toolbox(
    tools=(
        tool("login_user", "Log a user in with a proof of identity.", username=USERNAME, identification=IDENTIFICATION),
        tool("logout_user", "Log a user out.", username=USERNAME),
        tool(
            "open_account",
            "Open an account with a proof of identity and an administrator's password.",
            username=USERNAME,
            identification=IDENTIFICATION,
            admin_password=ADMIN_PASSWORD,
        ),
        tool(
            "authenticate_admin_password",
            "Give the administrator's password of an account for the rest of the session.",
            username=USERNAME,
            admin_password=ADMIN_PASSWORD,
        ),
        tool(
            "set_admin_password",
            "Change the administrator's password of an account.",
            username=USERNAME,
            admin_password_new=ADMIN_PASSWORD_NEW,
        ),
        tool(
            "set_account_information",
            "Change the name and the proof of identity of an account.",
            username=USERNAME,
            username_new=USERNAME_NEW,
            identification_new=IDENTIFICATION_NEW,
        ),
        tool("close_account", "Close an account and delete what belongs to it.", username=USERNAME),
        tool("get_account_balance", "Tell the balance of an account.", username=USERNAME),
        tool(
            "transfer_funds",
            "Move money from one account to another.",
            username=USERNAME,
            destination_username=DESTINATION_USERNAME,
            amount=AMOUNT,
            unit=UNIT,
        ),
        tool(
            "deposit_funds",
            "Pay cash or a check into an account.",
            username=USERNAME,
            amount=AMOUNT,
            unit=UNIT,
            deposit_form=DEPOSIT_FORM,
        ),
        tool(
            "pay_bill",
            "Pay a bill from the balance of an account.",
            optional=("bill_description",),
            open_ended=True,
            username=USERNAME,
            amount=AMOUNT,
            unit=UNIT,
            bill_description=BILL_DESCRIPTION,
        ),
        tool(
            "pay_bill_with_credit_card",
            "Pay a bill with one of the account's credit cards.",
            username=USERNAME,
            amount=AMOUNT,
            card_number=CARD_NUMBER,
        ),
        tool(
            "apply_credit_card",
            "Apply for a credit card.",
            username=USERNAME,
            total_assets=TOTAL_ASSETS,
            monthly_income=MONTHLY_INCOME,
        ),
        tool(
            "exchange_foreign_currency",
            "Exchange dollars into a foreign currency at the bank's rate.",
            amount=AMOUNT,
            unit=UNIT,
            foreign_currency_type=FOREIGN_CURRENCY_TYPE,
        ),
        tool("get_account_owed_balance", "Tell how much an account owes the bank.", username=USERNAME),
        tool("get_loan", "Lend money to an account.", username=USERNAME, loan_amount=LOAN_AMOUNT),
        tool(
            "pay_loan",
            "Pay back a part of what an account owes, from its balance.",
            username=USERNAME,
            pay_owed_amount_request=PAY_OWED_AMOUNT_REQUEST,
        ),
        tool("get_safety_box", "Tell what an account's safety box holds.", username=USERNAME),
        tool(
            "set_safety_box",
            "Change what an account's safety box holds.",
            username=USERNAME,
            safety_box_new=SAFETY_BOX_NEW,
        ),
        tool("get_credit_cards", "List the credit cards of an account.", username=USERNAME),
        tool(
            "get_credit_card_info",
            "Show limit and balance of one credit card.",
            username=USERNAME,
            card_number=CARD_NUMBER,
        ),
        tool("cancel_credit_card", "Cancel a credit card.", username=USERNAME, card_number=CARD_NUMBER),
        tool(
            "get_bank_maximum_loan_amount",
            "Tell the largest loan that the bank can give at present.",
            optional=("bank_total_cash",),
            open_ended=True,
            bank_total_cash=BANK_TOTAL_CASH,
        ),
        tool("internal_get_database", "Show the whole database."),
        tool("internal_check_username_exist", "Check whether an account of this name exists.", username=USERNAME),
        tool(
            "internal_check_foreign_currency_available",
            "Check whether the bank trades a currency.",
            foreign_currency_type=FOREIGN_CURRENCY_TYPE,
        ),
        tool("internal_get_credit_score", "Tell the credit score of an account's holder.", username=USERNAME),
        tool(
            "internal_check_credit_card_exist",
            "Check whether an account has a credit card of this number.",
            username=USERNAME,
            card_number=CARD_NUMBER,
        ),
    ),
    hidden=("internal_get_database",),
    unpublished=("pay_bill_with_credit_card", "cancel_credit_card"),
)
