"""Tools of the health insurer, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import either, number, record, string, tool

USERNAME = string("Name of the insured user.")
IDENTIFICATION = either(
    "What the user proves who they are with: the password, or the driver's licence.",
    string("The password."),
    record(
        "The driver's licence.",
        drivers_license_id=string("Number of the licence."),
        drivers_license_state=string("State that issued it."),
    ),
)
POLICY_TYPE = string("Kind of the policy: Health, Dental, Pharmacy or Vision.")
COVERAGE_AMOUNT = number("What the policy covers, in dollars.")
ANNUAL_INCOME = number("What the user earns in a year, in dollars.")
AMOUNT = number("What is claimed, in dollars.")
DESCRIPTION = string("What the claim is for.")
PROVIDER_ID = string("Identifier of the provider.")
CLAIM_ID = string("Identifier of the claim.")
APPOINTMENT_DATE = string("Day of the appointment, as in 2024-12-01.")

TOOLBOX = Toolbox(
    tools=(
        tool("login_user", "Log a user in with a proof of identity.", username=USERNAME, identification=IDENTIFICATION),
        tool("logout_user", "Log a user out.", username=USERNAME),
        tool(
            "update_policy",
            "Change kind, coverage and stated income of a policy.",
            username=USERNAME,
            policy_type=POLICY_TYPE,
            coverage_amount=COVERAGE_AMOUNT,
            annual_income=ANNUAL_INCOME,
        ),
        tool(
            "submit_claim",
            "Hand in a claim for what a provider did.",
            username=USERNAME,
            amount=AMOUNT,
            description=DESCRIPTION,
            provider_id=PROVIDER_ID,
        ),
        tool("get_claim_details", "Show one claim of a user.", username=USERNAME, claim_id=CLAIM_ID),
        tool(
            "add_authorized_provider",
            "Authorise a provider for a user's policy.",
            username=USERNAME,
            provider_id=PROVIDER_ID,
        ),
        tool("get_claim_history", "List all claims of a user.", username=USERNAME),
        tool("deactivate_policy", "End a user's policy.", username=USERNAME),
        tool(
            "reactivate_policy",
            "Start an ended policy again.",
            username=USERNAME,
            policy_type=POLICY_TYPE,
            coverage_amount=COVERAGE_AMOUNT,
            annual_income=ANNUAL_INCOME,
        ),
        tool(
            "schedule_appointment",
            "Book an appointment with a provider.",
            username=USERNAME,
            provider_id=PROVIDER_ID,
            appointment_date=APPOINTMENT_DATE,
        ),
        tool("appeal_claim", "Appeal against the decision on a claim.", username=USERNAME, claim_id=CLAIM_ID),
        tool("get_policy_details", "Show a user's policy.", username=USERNAME),
        tool("get_provider_details", "Show the record of a provider.", provider_id=PROVIDER_ID),
        tool("internal_get_database", "Show the whole database."),
        tool("internal_check_username_exist", "Check whether a user of this name is known.", username=USERNAME),
        tool(
            "internal_check_claim_exists",
            "Check whether a user has a claim of this identifier.",
            username=USERNAME,
            claim_id=CLAIM_ID,
        ),
        tool("internal_check_provider_exists", "Check whether a provider is known.", provider_id=PROVIDER_ID),
        tool("internal_get_interaction_time", "Tell the present date and time."),
    ),
    hidden=("internal_get_database",),
)
