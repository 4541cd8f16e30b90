"""The base systems of the seven domains: all that a rollout in prompt mode executes."""

from assay.sopbench.domains.bank.functions import Bank
from assay.sopbench.domains.dmv.functions import Dmv
from assay.sopbench.domains.healthcare.functions import Healthcare
from assay.sopbench.domains.hotel.functions import Hotel
from assay.sopbench.domains.library.functions import Library
from assay.sopbench.domains.online_market.functions import OnlineMarket
from assay.sopbench.domains.university.functions import University
from assay.sopbench.system import System

SYSTEMS: dict[str, type[System]] = {
    "bank": Bank,
    "dmv": Dmv,
    "healthcare": Healthcare,
    "hotel": Hotel,
    "library": Library,
    "online_market": OnlineMarket,
    "university": University,
}
