"""The online market: products, carts, orders, coupons, reviews."""

from typing import Any

from assay.sopbench.system import System

Pair = tuple[bool, Any]


class OnlineMarket(System):
    """State and functions of the online market."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._accounts: dict[str, Any] = state["accounts"]
        self._products: dict[str, Any] = state["products"]
        self._coupons: dict[str, Any] = state["coupons"]

    def _account(self, username: str) -> dict[str, Any]:
        # An unknown user has no record, so that the look-up fails on None (TypeError, as published).
        return self._accounts.get(username)  # type: ignore[return-value]

    def _order(self, username: str, order_id: str) -> dict[str, Any] | None:
        orders = self._account(username)["order_history"]
        return next((order for order in orders if order["order_id"] == order_id), None)

    def login_user(self, username: str, password: str) -> bool:
        if username not in self._accounts:
            return False
        return bool(self._accounts[username]["password"] == password)

    def logout_user(self, username: str) -> bool:
        return True

    def add_to_cart(self, username: str, product_id: str, quantity: int) -> bool:
        if not (product_id in self._products and quantity > 0):
            return False
        product = self._products[product_id]
        product["stock"] -= quantity
        self._accounts[username]["cart"].append(
            {"product_id": product_id, "quantity": quantity, "price": product["price"] * quantity}
        )
        return True

    def view_cart(self, username: str) -> Pair:
        return True, self._accounts[username]["cart"]

    def place_order(self, username: str) -> bool:
        account = self._account(username)
        cart = account["cart"]
        account["order_history"].append(
            {
                "order_id": f"ORD-{len(account['order_history']) + 1}",
                "items": cart,
                "status": "Processing",
                "total_amount": round(sum(item["price"] for item in cart), 2),
                "shipping_address": account["shipping_addresses"][account["default_address_index"]]["address"],
                "order_placed_date": self.state["interaction_time"],
            }
        )
        account["cart"] = []
        return True

    def view_order_history(self, username: str) -> Pair:
        return True, self._accounts[username]["order_history"]

    def add_shipping_address(self, username: str, address: str) -> bool:
        account = self._account(username)
        account["shipping_addresses"].append({"address": address})
        if len(account["shipping_addresses"]) == 1:
            account["default_address_index"] = 0
        return True

    def view_shipping_addresses(self, username: str) -> Pair:
        return True, self._accounts[username]["shipping_addresses"]

    def get_product_details(self, product_id: str) -> bool | Pair:
        if product_id not in self._products:
            return False
        return True, self._products[product_id]

    def add_review(self, username: str, product_id: str, rating: int, comment: str) -> bool:
        if product_id not in self._products:
            return False
        product = self._products[product_id]
        product["reviews"].append({"username": username, "rating": rating, "comment": comment})
        ratings = [int(review["rating"]) for review in product["reviews"]]
        product["average_rating"] = round(sum(ratings) / len(ratings), 2)
        return True

    def get_order_details(self, username: str, order_id: str) -> Pair:
        return True, self._order(username, order_id)

    def cancel_order(self, username: str, order_id: str) -> bool:
        self._order(username, order_id)["status"] = "Canceled"  # type: ignore[index]
        return True

    def return_order(self, username: str, order_id: str) -> bool:
        self._order(username, order_id)["status"] = "Refunding"  # type: ignore[index]
        return True

    def exchange_product(
        self, username: str, order_id: str, old_product_id: str, new_product_id: str, quantity: float
    ) -> bool:
        if not (new_product_id in self._products and old_product_id in self._products and quantity > 0):
            return False
        order: dict[str, Any] = self._order(username, order_id)  # type: ignore[assignment]
        item: Any = next((item for item in order["items"] if item["product_id"] == old_product_id), None)
        self._products[new_product_id]["stock"] -= quantity
        # A product that is not part of the order fails here, after the stock was taken (as published).
        self._products[old_product_id]["stock"] += item["quantity"]
        # The item's quantity stays, and the exchange is not counted (as published).
        item["product_id"] = new_product_id
        item["price"] = self._products[new_product_id]["price"] * quantity
        order["total_amount"] = sum(item["price"] for item in order["items"])
        return True

    def use_coupon(self, username: str, order_id: str, coupon_code: str) -> bool:
        if coupon_code not in self._coupons:
            return False
        orders = self._account(username)["order_history"]
        order = next(order for order in orders if order["order_id"] == order_id)
        coupon = self._coupons[coupon_code]
        value = coupon["discount_value"]
        discount = value / 100 * order["total_amount"] if coupon["discount_type"] == "percentage" else value
        order["coupons_used"].append(coupon_code)
        order["total_amount"] -= round(discount, 2)
        return True

    def get_coupons_used(self, username: str) -> Pair:
        orders = self._accounts[username]["order_history"]
        return True, [code for order in orders for code in order.get("coupons_used", [])]

    def internal_get_database(self) -> dict[str, Any]:
        return self.state

    def internal_check_username_exist(self, username: str) -> Pair:
        return True, username in self._accounts

    def internal_check_product_exist(self, product_id: str) -> Pair:
        return True, product_id in self._products

    def internal_check_coupon_exist(self, coupon_code: str) -> Pair:
        return True, coupon_code in self._coupons

    def internal_check_user_credit_status(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["credit_rating"]

    def internal_check_order_exist(self, username: str, order_id: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._order(username, order_id) is not None

    def internal_get_interaction_time(self) -> Pair:
        return True, self.state["interaction_time"]

    def internal_get_coupon_details(self, coupon_code: str) -> bool | Pair:
        if coupon_code not in self._coupons:
            return False
        return True, self._coupons[coupon_code]
