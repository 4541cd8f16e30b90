"""Rule tables of the online market: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exist(username)",
        "add_to_cart": "and[internal_check_product_exist(product_id), amount_positive_restr(amount=quantity)]",
        "get_product_details": "internal_check_product_exist(product_id)",
        "add_review": "internal_check_product_exist(product_id)",
        "exchange_product": (
            "and[internal_check_product_exist(product_id=new_product_id), "
            "internal_check_product_exist(product_id=old_product_id), amount_positive_restr(amount=quantity)]"
        ),
        "use_coupon": "internal_check_coupon_exist(coupon_code)",
        "internal_check_user_credit_status": "internal_check_username_exist(username)",
        "internal_check_order_exist": "internal_check_username_exist(username)",
        "internal_get_coupon_details": "internal_check_coupon_exist(coupon_code)",
    },
    required={
        "add_to_cart": "logged_in_user(username)",
        "view_cart": "logged_in_user(username)",
        "place_order": "and[has_items_in_cart(username), has_shipping_address(username), logged_in_user(username)]",
        "view_order_history": "logged_in_user(username)",
        "add_shipping_address": "logged_in_user(username)",
        "view_shipping_addresses": "logged_in_user(username)",
        "add_review": "logged_in_user(username)",
        "get_order_details": "and[logged_in_user(username), internal_check_order_exist(username, order_id)]",
        "cancel_order": "and[logged_in_user(username), internal_check_order_exist(username, order_id)]",
        "return_order": "and[logged_in_user(username), internal_check_order_exist(username, order_id)]",
        "exchange_product": (
            "and[logged_in_user(username), internal_check_order_exist(username, order_id), "
            "product_exists_in_order(username, order_id, product_id=old_product_id)]"
        ),
        "use_coupon": "and[logged_in_user(username), internal_check_order_exist(username, order_id)]",
        "get_coupons_used": "logged_in_user(username)",
    },
    customizable={
        "logout_user": "internal_check_username_exist(username)",
        "add_to_cart": "enough_stock(product_id, quantity)",
        "place_order": "credit_status_not_suspended(username)",
        "add_shipping_address": "not_already_added_shipping_address(username, address)",
        "add_review": (
            "and[within_review_limits(rating), unique_review(product_id, username), "
            "product_bought_by_user(username, product_id), credit_status_not_restricted_or_suspended(username)]"
        ),
        "cancel_order": "order_processing(username, order_id)",
        "return_order": (
            "and[order_delivered(username, order_id), or[within_return_period(username, order_id), "
            "credit_status_excellent(username)]]"
        ),
        "exchange_product": (
            "and[order_delivered(username, order_id), enough_stock(product_id=new_product_id, quantity), "
            "or[and[within_exchange_period(username, order_id), less_than_max_exchanges(username, order_id)], "
            "credit_status_excellent(username)]]"
        ),
        "use_coupon": (
            "and[coupon_valid(coupon_code, username, order_id), coupon_not_expired(coupon_code), "
            "credit_status_not_restricted_or_suspended(username), coupon_not_already_used(username, coupon_code)]"
        ),
    },
    links={
        "logged_in_user": "login_user(username)",
    },
    dependencies={
        "enough_stock": "internal_check_product_exist(product_id)",
        "has_shipping_address": "internal_check_username_exist(username)",
        "has_items_in_cart": "internal_check_username_exist(username)",
        "not_already_added_shipping_address": "internal_check_username_exist(username)",
        "unique_review": "and[internal_check_product_exist(product_id), internal_check_username_exist(username)]",
        "product_bought_by_user": "internal_check_username_exist(username)",
        "order_delivered": "internal_check_order_exist(username, order_id)",
        "order_processing": "internal_check_order_exist(username, order_id)",
        "credit_status_not_restricted_or_suspended": "internal_check_username_exist(username)",
        "credit_status_not_suspended": "internal_check_username_exist(username)",
        "credit_status_excellent": "internal_check_username_exist(username)",
        "within_exchange_period": "internal_check_order_exist(username, order_id)",
        "within_return_period": "internal_check_order_exist(username, order_id)",
        "less_than_max_exchanges": "internal_check_order_exist(username, order_id)",
        "coupon_not_expired": "internal_check_coupon_exist(coupon_code)",
        "coupon_valid": "and[internal_check_coupon_exist(coupon_code), internal_check_order_exist(username, order_id)]",
        "coupon_not_already_used": "internal_check_username_exist(username)",
        "product_exists_in_order": "internal_check_order_exist(username, order_id)",
    },
    processes={
        "internal_check_username_exist": "or[internal_check_username_exist(username), internal_get_database()]",
        "internal_check_product_exist": "or[internal_check_product_exist(product_id), internal_get_database()]",
        "internal_check_coupon_exist": "or[internal_check_coupon_exist(coupon_code), internal_get_database()]",
        "enough_stock": "or[get_product_details(product_id), internal_get_database()]",
        "has_shipping_address": "or[view_shipping_addresses(username), internal_get_database()]",
        "has_items_in_cart": "or[view_cart(username), internal_get_database()]",
        "not_already_added_shipping_address": "or[view_shipping_addresses(username), internal_get_database()]",
        "unique_review": "or[get_product_details(product_id), internal_get_database()]",
        "product_bought_by_user": "or[view_order_history(username), internal_get_database()]",
        "internal_check_order_exist": (
            "or[internal_check_order_exist(username, order_id), view_order_history(username), internal_get_database()]"
        ),
        "order_delivered": (
            "or[get_order_details(username, order_id), view_order_history(username), internal_get_database()]"
        ),
        "order_processing": (
            "or[get_order_details(username, order_id), view_order_history(username), internal_get_database()]"
        ),
        "credit_status_not_restricted_or_suspended": (
            "or[internal_check_user_credit_status(username), internal_get_database()]"
        ),
        "credit_status_not_suspended": "or[internal_check_user_credit_status(username), internal_get_database()]",
        "credit_status_excellent": "or[internal_check_user_credit_status(username), internal_get_database()]",
        "within_exchange_period": (
            "or[and[or[get_order_details(username, order_id), view_order_history(username)], "
            "internal_get_interaction_time()], internal_get_database()]"
        ),
        "within_return_period": (
            "or[and[or[get_order_details(username, order_id), view_order_history(username)], "
            "internal_get_interaction_time()], internal_get_database()]"
        ),
        "less_than_max_exchanges": (
            "or[get_order_details(username, order_id), view_order_history(username), internal_get_database()]"
        ),
        "coupon_not_expired": (
            "or[and[internal_get_coupon_details(coupon_code), internal_get_interaction_time()], "
            "internal_get_database()]"
        ),
        "coupon_valid": (
            "or[and[internal_get_coupon_details(coupon_code), or[get_order_details(username, order_id), "
            "view_order_history(username)]], internal_get_database()]"
        ),
        "coupon_not_already_used": (
            "or[get_coupons_used(username), view_order_history(username), internal_get_database()]"
        ),
        "product_exists_in_order": (
            "or[get_order_details(username, order_id), view_order_history(username), internal_get_database()]"
        ),
    },
    limits={
        "exchange_period": 365,
        "max_exchange_times": 2,
        "rating_lower_bound": 1,
        "rating_upper_bound": 5,
        "return_period": 182,
    },
)
