"""Truth values of the online market's constraints, and its session: one user."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from assay.sopbench.dates import day, moment
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System


class OnlineMarketSession(OneUserSession):
    """Who is logged in, and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {"password": None}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._accounts: dict[str, Any] = self.state["accounts"]
        self._products: dict[str, Any] = self.state["products"]
        self._coupons: dict[str, Any] = self.state["coupons"]

    def _order(self, username: str, order_id: str) -> dict[str, Any]:
        return next(order for order in self._accounts[username]["order_history"] if order["order_id"] == order_id)

    def _rating(self, username: str) -> str:
        return str(self._accounts[username]["credit_rating"].lower())

    def _within(self, username: str, order_id: str, limit: str) -> bool:
        placed = day(self._order(username, order_id)["order_placed_date"])
        return moment(self.state["interaction_time"]) - placed <= timedelta(days=self.limits[limit])

    def enough_stock(self, product_id: str, quantity: int) -> bool:
        return bool(self._products[product_id]["stock"] >= quantity)

    def has_shipping_address(self, username: str) -> bool:
        return bool(self._accounts[username]["shipping_addresses"])

    def within_review_limits(self, rating: int) -> bool:
        return bool(self.limits["rating_lower_bound"] <= rating <= self.limits["rating_upper_bound"])

    def has_items_in_cart(self, username: str) -> bool:
        return bool(self._accounts[username]["cart"])

    def amount_positive_restr(self, amount: float) -> bool:
        return amount > 0

    def not_already_added_shipping_address(self, username: str, address: str) -> bool:
        known = [entry["address"].lower() for entry in self._accounts[username]["shipping_addresses"]]
        return address.lower() not in known

    def unique_review(self, product_id: str, username: str) -> bool:
        return all(review["username"] != username for review in self._products[product_id]["reviews"])

    def product_bought_by_user(self, username: str, product_id: str) -> bool:
        orders = self._accounts[username]["order_history"]
        return any(item["product_id"] == product_id for order in orders for item in order["items"])

    def order_delivered(self, username: str, order_id: str) -> bool:
        return bool(self._order(username, order_id)["status"].lower() == "delivered")

    def order_processing(self, username: str, order_id: str) -> bool:
        return bool(self._order(username, order_id)["status"].lower() == "processing")

    def credit_status_not_restricted_or_suspended(self, username: str) -> bool:
        return self._rating(username) not in ("restricted", "suspended")

    def credit_status_not_suspended(self, username: str) -> bool:
        return self._rating(username) != "suspended"

    def credit_status_excellent(self, username: str) -> bool:
        return self._rating(username) == "excellent"

    def within_exchange_period(self, username: str, order_id: str) -> bool:
        return self._within(username, order_id, "exchange_period")

    def within_return_period(self, username: str, order_id: str) -> bool:
        return self._within(username, order_id, "return_period")

    def less_than_max_exchanges(self, username: str, order_id: str) -> bool:
        return bool(self._order(username, order_id)["number_of_exchanges"] < self.limits["max_exchange_times"])

    def coupon_not_expired(self, coupon_code: str) -> bool:
        return day(self._coupons[coupon_code]["expiration_date"]) > moment(self.state["interaction_time"])

    def coupon_valid(self, coupon_code: str, username: str, order_id: str) -> bool:
        # An unknown coupon is no record (TypeError, as published).
        valid = self._coupons.get(coupon_code)["valid_products"]  # type: ignore[index]
        return any(item["product_id"] in valid for item in self._order(username, order_id)["items"])

    def coupon_not_already_used(self, username: str, coupon_code: str) -> bool:
        orders = self._accounts[username]["order_history"]
        return coupon_code not in [code for order in orders for code in order.get("coupons_used", [])]

    def product_exists_in_order(self, username: str, order_id: str, product_id: str) -> bool:
        return any(item["product_id"] == product_id for item in self._order(username, order_id)["items"])
