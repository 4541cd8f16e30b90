"""New tasks of the online market: products, orders and coupons, and what customers ask for."""

from datetime import datetime
from random import Random
from typing import Any

from assay.sopbench.dates import moment
from assay.sopbench.domain import Scenario
from assay.sopbench.domains.online_market.functions import OnlineMarket
from assay.sopbench.pools import account_name, address, chosen, clock, mostly, people, secret, shifted

_PRODUCTS = {"Lantern": 24.0, "Kettle": 39.5, "Backpack": 75.0, "Headset": 120.0, "Blanket": 31.0}
_CREDENTIALS = ("username", "password")


def world(draw: Random) -> dict[str, Any]:
    """Draw three customers with orders, five products and three coupons."""
    now = clock(draw)
    accounts = {account_name(person): _account(draw, now) for person in people(draw, 3)}
    products = {name: _product(draw, price, sorted(accounts)) for name, price in _PRODUCTS.items()}
    coupons = {name: _coupon(draw, now, name) for name in ("TENOFF", "SPRING", "FLAT5")}
    return {"accounts": accounts, "products": products, "coupons": coupons, "interaction_time": now.isoformat()}


def _product(draw: Random, price: float, names: list[str]) -> dict[str, Any]:
    reviews: list[dict[str, Any]] = [
        {"username": name, "rating": draw.randrange(1, 6), "comment": "fine"} for name in names if draw.random() < 0.3
    ]
    average = round(sum(review["rating"] for review in reviews) / len(reviews), 2) if reviews else 0
    return {
        "price": price,
        "stock": mostly(draw, (8, 40), (0, 1)),
        "description": "a useful thing",
        "reviews": reviews,
        "average_rating": average,
    }


def _coupon(draw: Random, now: datetime, name: str) -> dict[str, Any]:
    flat = name == "FLAT5"
    return {
        "discount_value": 5 if flat else 10,
        "discount_type": "flat" if flat else "percentage",
        "valid_products": draw.sample(sorted(_PRODUCTS), 3),
        "expiration_date": shifted(now, mostly(draw, (3, 60), (-5,))),
    }


def _account(draw: Random, now: datetime) -> dict[str, Any]:
    orders = [_order(draw, now, number) for number in range(1, draw.randrange(2, 4))]
    cart = [] if draw.random() < 0.3 else [{"product_id": "Lantern", "quantity": 2, "price": 48.0}]
    addresses = [{"address": address(draw)} for _ in range(mostly(draw, (1, 2), (0,)))]
    return {
        "password": secret(draw),
        "cart": cart,
        "credit_rating": draw.choice(("good", "good", "excellent", "restricted", "suspended")),
        "order_history": orders,
        "shipping_addresses": addresses,
        "default_address_index": 0 if addresses else None,
    }


def _order(draw: Random, now: datetime, number: int) -> dict[str, Any]:
    items = [
        {"product_id": name, "quantity": 1, "price": _PRODUCTS[name]} for name in draw.sample(sorted(_PRODUCTS), 2)
    ]
    return {
        "order_id": f"ORD-{number}",
        "items": items,
        "status": draw.choice(("Delivered", "Delivered", "Processing", "Canceled")),
        "total_amount": sum(item["price"] for item in items),
        "shipping_address": address(draw),
        "order_placed_date": shifted(now, mostly(draw, (-20, -100), (-250, -500))),
        "number_of_exchanges": mostly(draw, (0, 1), (2,)),
        "coupons_used": draw.choice(([], [], ["TENOFF"])),
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a customer and what is asked for."""
    user = draw.choice(sorted(state["accounts"]))
    account = state["accounts"][user]
    orders = account["order_history"]
    order = draw.choice(orders)
    bought = [item["product_id"] for item in order["items"]]
    known = [entry["address"] for entry in account["shipping_addresses"]]
    now = moment(state["interaction_time"])
    values: dict[str, Any] = {
        "username": user,
        "password": account["password"],
        "product_id": mostly(draw, bought, ("Blanket", "Anvil")),
        "quantity": mostly(draw, (1, 2, 3), (60,)),
        "address": mostly(draw, (address(draw),), known or (address(draw),)),
        "rating": mostly(draw, (1, 3, 5), (0, 9)),
        "comment": f"bought before {now.year}",
        "order_id": mostly(draw, (order["order_id"],), ("ORD-77",), 0.9),
        "old_product_id": mostly(draw, bought, sorted(_PRODUCTS), 0.85),
        "new_product_id": draw.choice(sorted(_PRODUCTS)),
        "coupon_code": mostly(draw, sorted(state["coupons"]), ("NOTHING",), 0.93),
    }
    return chosen(values, (*_CREDENTIALS, *OnlineMarket.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "add_to_cart": "put {quantity} of {product_id} into the cart",
        "view_cart": "see the cart of {username}",
        "place_order": "order what is in the cart",
        "view_order_history": "see all orders of {username}",
        "add_shipping_address": "add the address {address}",
        "view_shipping_addresses": "see the addresses of {username}",
        "add_review": "review {product_id} with {rating} stars",
        "get_order_details": "see the order {order_id}",
        "cancel_order": "cancel the order {order_id}",
        "return_order": "send the order {order_id} back",
        "exchange_product": "exchange {old_product_id} of the order {order_id} for {quantity} of {new_product_id}",
        "use_coupon": "use the coupon {coupon_code} on the order {order_id}",
        "get_coupons_used": "see which coupons {username} has used",
    },
)
