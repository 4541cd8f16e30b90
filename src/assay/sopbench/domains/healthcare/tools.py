"""Tools of the health insurer, as a model sees them."""

from assay.sopbench.tools import identity, number, string, toolbox

PARAMETERS = {
    "username": string("Name of the insured user."),
    "identification": identity("What the user proves who they are with: the password, or the driver's licence."),
    "policy_type": string("Kind of the policy: Health, Dental, Pharmacy or Vision."),
    "coverage_amount": number("What the policy covers, in dollars."),
    "annual_income": number("What the user earns in a year, in dollars."),
    "amount": number("What is claimed, in dollars."),
    "description": string("What the claim is for."),
    "provider_id": string("Identifier of the provider."),
    "claim_id": string("Identifier of the claim."),
    "appointment_date": string("Day of the appointment, as in 2024-12-01."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, identification)": "Log a user in with a proof of identity.",
        "logout_user(username)": "Log a user out.",
        "update_policy(username, policy_type, coverage_amount, annual_income)": (
            "Change kind, coverage and stated income of a policy."
        ),
        "submit_claim(username, amount, description, provider_id)": "Hand in a claim for what a provider did.",
        "get_claim_details(username, claim_id)": "Show one claim of a user.",
        "add_authorized_provider(username, provider_id)": "Authorise a provider for a user's policy.",
        "get_claim_history(username)": "List all claims of a user.",
        "deactivate_policy(username)": "End a user's policy.",
        "reactivate_policy(username, policy_type, coverage_amount, annual_income)": "Start an ended policy again.",
        "schedule_appointment(username, provider_id, appointment_date)": "Book an appointment with a provider.",
        "appeal_claim(username, claim_id)": "Appeal against the decision on a claim.",
        "get_policy_details(username)": "Show a user's policy.",
        "get_provider_details(provider_id)": "Show the record of a provider.",
        "internal_get_database()": "Show the whole database.",
        "internal_check_username_exist(username)": "Check whether a user of this name is known.",
        "internal_check_claim_exists(username, claim_id)": "Check whether a user has a claim of this identifier.",
        "internal_check_provider_exists(provider_id)": "Check whether a provider is known.",
        "internal_get_interaction_time()": "Tell the present date and time.",
    },
    hidden=("internal_get_database",),
)
