"""Tools of the online market, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import integer, number, string, tool

USERNAME = string("Name of the account.")
PASSWORD = string("The password of the account.")
PRODUCT_ID = string("Identifier of the product.")
QUANTITY = integer("How many.")
ADDRESS = string("A postal address.")
RATING = integer("Stars.")
COMMENT = string("What the user says about the product.")
ORDER_ID = string("Identifier of the order.")
OLD_PRODUCT_ID = string("The product to give back.")
NEW_PRODUCT_ID = string("The product to get instead.")
COUPON_CODE = string("Code of the coupon.")

TOOLBOX = Toolbox(
    tools=(
        tool("login_user", "Log a user in with the account's password.", username=USERNAME, password=PASSWORD),
        tool("logout_user", "Log a user out.", username=USERNAME),
        tool(
            "add_to_cart",
            "Put a product into a user's cart.",
            username=USERNAME,
            product_id=PRODUCT_ID,
            quantity=QUANTITY,
        ),
        tool("view_cart", "Show a user's cart.", username=USERNAME),
        tool("place_order", "Order what is in a user's cart.", username=USERNAME),
        tool("view_order_history", "List all orders of a user.", username=USERNAME),
        tool("add_shipping_address", "Add an address to which orders are sent.", username=USERNAME, address=ADDRESS),
        tool("view_shipping_addresses", "List a user's addresses.", username=USERNAME),
        tool("get_product_details", "Show price, stock and reviews of a product.", product_id=PRODUCT_ID),
        tool(
            "add_review", "Review a product.", username=USERNAME, product_id=PRODUCT_ID, rating=RATING, comment=COMMENT
        ),
        tool("get_order_details", "Show one order of a user.", username=USERNAME, order_id=ORDER_ID),
        tool("cancel_order", "Cancel an order.", username=USERNAME, order_id=ORDER_ID),
        tool("return_order", "Send an order back for its money.", username=USERNAME, order_id=ORDER_ID),
        tool(
            "exchange_product",
            "Exchange a product of an order for another one.",
            username=USERNAME,
            order_id=ORDER_ID,
            old_product_id=OLD_PRODUCT_ID,
            new_product_id=NEW_PRODUCT_ID,
            quantity=number("How many of the new product."),
        ),
        tool("use_coupon", "Use a coupon on an order.", username=USERNAME, order_id=ORDER_ID, coupon_code=COUPON_CODE),
        tool("get_coupons_used", "List the coupons that a user has used.", username=USERNAME),
        tool("internal_get_database", "Show the whole database."),
        tool("internal_check_username_exist", "Check whether an account of this name exists.", username=USERNAME),
        tool("internal_check_product_exist", "Check whether a product exists.", product_id=PRODUCT_ID),
        tool("internal_check_coupon_exist", "Check whether a coupon exists.", coupon_code=COUPON_CODE),
        tool("internal_check_user_credit_status", "Tell the credit rating of a user.", username=USERNAME),
        tool(
            "internal_check_order_exist",
            "Check whether a user has an order of this identifier.",
            username=USERNAME,
            order_id=ORDER_ID,
        ),
        tool("internal_get_interaction_time", "Tell the present date and time."),
        tool("internal_get_coupon_details", "Show the terms of a coupon.", coupon_code=COUPON_CODE),
    ),
    hidden=("internal_get_database",),
)
