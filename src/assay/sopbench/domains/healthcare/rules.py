"""Rule tables of the health insurer: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exist(username)",
        "update_policy": (
            "and[amount_positive_restr(amount=coverage_amount), amount_positive_restr(amount=annual_income)]"
        ),
        "submit_claim": "and[internal_check_provider_exists(provider_id), amount_positive_restr(amount)]",
        "get_claim_details": "internal_check_claim_exists(username, claim_id)",
        "add_authorized_provider": "internal_check_provider_exists(provider_id)",
        "reactivate_policy": "amount_positive_restr(amount=coverage_amount)",
        "schedule_appointment": "internal_check_provider_exists(provider_id)",
        "appeal_claim": "internal_check_claim_exists(username, claim_id)",
        "get_provider_details": "internal_check_provider_exists(provider_id)",
        "internal_check_claim_exists": "internal_check_username_exist(username)",
    },
    required={
        "update_policy": "and[logged_in_user(username), policy_active(username)]",
        "submit_claim": "and[logged_in_user(username), policy_active(username)]",
        "get_claim_details": "logged_in_user(username)",
        "add_authorized_provider": "and[logged_in_user(username), policy_active(username)]",
        "get_claim_history": "logged_in_user(username)",
        "deactivate_policy": "and[logged_in_user(username), policy_active(username)]",
        "reactivate_policy": "and[logged_in_user(username), policy_inactive(username)]",
        "schedule_appointment": "and[logged_in_user(username), policy_active(username)]",
        "appeal_claim": "and[logged_in_user(username), policy_active(username)]",
        "get_policy_details": "logged_in_user(username)",
    },
    customizable={
        "logout_user": "internal_check_username_exist(username)",
        "update_policy": (
            "and[within_enrollment_period(username), income_proof_enough(coverage_amount, annual_income), "
            "no_pending_claims(username), policy_type_valid(policy_type)]"
        ),
        "submit_claim": (
            "and[claim_within_coverage_amount(username, amount), claim_within_limits(amount), "
            "or[provider_covers_policy(username, provider_id), provider_authorized(username, provider_id)]]"
        ),
        "add_authorized_provider": "provider_not_already_authorized(username, provider_id)",
        "deactivate_policy": "no_pending_claims(username)",
        "reactivate_policy": "policy_type_valid(policy_type)",
        "schedule_appointment": (
            "and[provider_available(provider_id), appointment_date_valid(appointment_date), "
            "or[provider_covers_policy(username, provider_id), provider_authorized(username, provider_id)]]"
        ),
        "appeal_claim": "and[within_appeal_period(username, claim_id), claim_status_denied(username, claim_id)]",
    },
    links={
        "logged_in_user": "login_user(username)",
    },
    dependencies={
        "claim_within_coverage_amount": "internal_check_username_exist(username)",
        "provider_not_already_authorized": "internal_check_username_exist(username)",
        "policy_active": "internal_check_username_exist(username)",
        "policy_inactive": "internal_check_username_exist(username)",
        "provider_available": "internal_check_provider_exists(provider_id)",
        "no_pending_claims": "internal_check_username_exist(username)",
        "provider_covers_policy": (
            "and[internal_check_username_exist(username), internal_check_provider_exists(provider_id)]"
        ),
        "claim_status_denied": "internal_check_claim_exists(username, claim_id)",
        "provider_authorized": "internal_check_username_exist(username)",
        "within_enrollment_period": "internal_check_username_exist(username)",
        "within_appeal_period": "internal_check_claim_exists(username, claim_id)",
    },
    processes={
        "internal_check_username_exist": "or[internal_check_username_exist(username), internal_get_database()]",
        "internal_check_claim_exists": "or[internal_check_claim_exists(username, claim_id), internal_get_database()]",
        "internal_check_provider_exists": "or[internal_check_provider_exists(provider_id), internal_get_database()]",
        "claim_within_coverage_amount": (
            "or[and[get_policy_details(username), or[get_claim_history(username), get_claim_details(username, "
            "claim_id)]], internal_get_database()]"
        ),
        "provider_not_already_authorized": "or[get_policy_details(username), internal_get_database()]",
        "policy_active": "or[get_policy_details(username), internal_get_database()]",
        "policy_inactive": "or[get_policy_details(username), internal_get_database()]",
        "provider_available": "or[get_provider_details(provider_id), internal_get_database()]",
        "no_pending_claims": "or[get_claim_history(username), internal_get_database()]",
        "provider_covers_policy": (
            "or[and[get_policy_details(username), get_provider_details(provider_id)], internal_get_database()]"
        ),
        "claim_status_denied": (
            "or[get_claim_details(username, claim_id), get_claim_history(username), internal_get_database()]"
        ),
        "provider_authorized": "or[get_policy_details(username), internal_get_database()]",
        "within_enrollment_period": (
            "or[and[get_policy_details(username), internal_get_interaction_time()], internal_get_database()]"
        ),
        "within_appeal_period": (
            "or[and[internal_get_interaction_time(), or[get_claim_details(username, claim_id), "
            "get_claim_history(username)]], internal_get_database()]"
        ),
        "appointment_date_valid": "or[internal_get_interaction_time(), internal_get_database()]",
    },
    limits={
        "appeal_period": 180,
        "enrollment_period": 90,
        "max_coverage_percentage": 20,
        "maximum_claimable_amount": 5000,
    },
)
