"""What a model is told about the health insurer: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import ACCOUNT
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the customers of a health insurer: policies, claims, providers and appointments.",
    conditions=ACCOUNT
    | {
        "internal_check_claim_exists": ("{username} has a claim {claim_id}", "{username} has no claim {claim_id}"),
        "internal_check_provider_exists": (
            "the provider {provider_id} is known",
            "the provider {provider_id} is not known",
        ),
        "amount_positive_restr": "{amount} is not negative",
        "claim_within_coverage_amount": (
            "the open and approved claims of {username} and {amount} together are at most what the policy covers"
        ),
        "claim_within_limits": "{amount} is less than {limits[maximum_claimable_amount]}",
        "provider_not_already_authorized": ("the provider {provider_id} is not yet authorised for {username}"),
        "policy_active": "the policy of {username} is active",
        "policy_inactive": "the policy of {username} is inactive",
        "provider_available": "the provider {provider_id} is available",
        "no_pending_claims": "{username} has no pending claim",
        "provider_covers_policy": ("the provider {provider_id} offers the kind of service of {username}'s policy"),
        "income_proof_enough": (
            "{coverage_amount} is at most {limits[max_coverage_percentage]} percent of {annual_income}"
        ),
        "claim_status_denied": "the claim {claim_id} of {username} was denied",
        "provider_authorized": "the provider {provider_id} is authorised for {username}",
        "within_enrollment_period": ("{username} enrolled at most {limits[enrollment_period]} days ago"),
        "within_appeal_period": ("the claim {claim_id} of {username} is at most {limits[appeal_period]} days old"),
        "policy_type_valid": "{policy_type} is Health, Dental, Pharmacy or Vision",
        "appointment_date_valid": "{appointment_date} is a day that has not begun yet",
    },
)
