"""What a model is told about the online market: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import ACCOUNT
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the customers of an online market: products, carts, orders, coupons and reviews.",
    conditions=ACCOUNT
    | {
        "internal_check_product_exist": ("the product {product_id} exists", "the product {product_id} does not exist"),
        "internal_check_coupon_exist": ("the coupon {coupon_code} exists", "the coupon {coupon_code} does not exist"),
        "internal_check_order_exist": ("{username} has an order {order_id}", "{username} has no order {order_id}"),
        "enough_stock": "at least {quantity} of the product {product_id} are in stock",
        "has_shipping_address": "{username} has an address for shipping",
        "within_review_limits": ("{rating} is between {limits[rating_lower_bound]} and {limits[rating_upper_bound]}"),
        "has_items_in_cart": "the cart of {username} is not empty",
        "amount_positive_restr": "{amount} is more than zero",
        "not_already_added_shipping_address": "{address} is not yet an address of {username}",
        "unique_review": "{username} has not reviewed the product {product_id} before",
        "product_bought_by_user": "{username} has ordered the product {product_id} before",
        "order_delivered": "the order {order_id} of {username} was delivered",
        "order_processing": "the order {order_id} of {username} is still being processed",
        "credit_status_not_restricted_or_suspended": "the credit of {username} is neither restricted nor suspended",
        "credit_status_not_suspended": "the credit of {username} is not suspended",
        "credit_status_excellent": "the credit of {username} is excellent",
        "within_exchange_period": ("the order {order_id} of {username} is at most {limits[exchange_period]} days old"),
        "within_return_period": ("the order {order_id} of {username} is at most {limits[return_period]} days old"),
        "less_than_max_exchanges": (
            "products of the order {order_id} of {username} were exchanged fewer than "
            "{limits[max_exchange_times]} times"
        ),
        "coupon_not_expired": "the coupon {coupon_code} has not expired",
        "coupon_valid": ("the coupon {coupon_code} is for some product of the order {order_id} of {username}"),
        "coupon_not_already_used": "{username} has not used the coupon {coupon_code} before",
        "product_exists_in_order": ("the product {product_id} is part of the order {order_id} of {username}"),
    },
)
