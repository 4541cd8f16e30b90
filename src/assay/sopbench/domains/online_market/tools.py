"""Tools of the online market, as a model sees them."""

from assay.sopbench.tools import integer, number, string, toolbox

PARAMETERS = {
    "username": string("Name of the account."),
    "password": string("The password of the account."),
    "product_id": string("Identifier of the product."),
    "quantity": integer("How many."),
    "address": string("A postal address."),
    "rating": integer("Stars."),
    "comment": string("What the user says about the product."),
    "order_id": string("Identifier of the order."),
    "old_product_id": string("The product to give back."),
    "new_product_id": string("The product to get instead."),
    "coupon_code": string("Code of the coupon."),
    "quantity_new": number("How many of the new product."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, password)": "Log a user in with the account's password.",
        "logout_user(username)": "Log a user out.",
        "add_to_cart(username, product_id, quantity)": "Put a product into a user's cart.",
        "view_cart(username)": "Show a user's cart.",
        "place_order(username)": "Order what is in a user's cart.",
        "view_order_history(username)": "List all orders of a user.",
        "add_shipping_address(username, address)": "Add an address to which orders are sent.",
        "view_shipping_addresses(username)": "List a user's addresses.",
        "get_product_details(product_id)": "Show price, stock and reviews of a product.",
        "add_review(username, product_id, rating, comment)": "Review a product.",
        "get_order_details(username, order_id)": "Show one order of a user.",
        "cancel_order(username, order_id)": "Cancel an order.",
        "return_order(username, order_id)": "Send an order back for its money.",
        "exchange_product(username, order_id, old_product_id, new_product_id, quantity=quantity_new)": (
            "Exchange a product of an order for another one."
        ),
        "use_coupon(username, order_id, coupon_code)": "Use a coupon on an order.",
        "get_coupons_used(username)": "List the coupons that a user has used.",
        "internal_get_database()": "Show the whole database.",
        "internal_check_username_exist(username)": "Check whether an account of this name exists.",
        "internal_check_product_exist(product_id)": "Check whether a product exists.",
        "internal_check_coupon_exist(coupon_code)": "Check whether a coupon exists.",
        "internal_check_user_credit_status(username)": "Tell the credit rating of a user.",
        "internal_check_order_exist(username, order_id)": "Check whether a user has an order of this identifier.",
        "internal_get_interaction_time()": "Tell the present date and time.",
        "internal_get_coupon_details(coupon_code)": "Show the terms of a coupon.",
    },
    hidden=("internal_get_database",),
)
