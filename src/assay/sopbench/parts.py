"""All parts of the seven domains, for building tasks and prompts."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.bank.domain import DOMAIN as BANK
from assay.sopbench.domains.dmv.domain import DOMAIN as DMV
from assay.sopbench.domains.healthcare.domain import DOMAIN as HEALTHCARE
from assay.sopbench.domains.hotel.domain import DOMAIN as HOTEL
from assay.sopbench.domains.library.domain import DOMAIN as LIBRARY
from assay.sopbench.domains.online_market.domain import DOMAIN as ONLINE_MARKET
from assay.sopbench.domains.university.domain import DOMAIN as UNIVERSITY

DOMAINS: dict[str, Domain] = {
    domain.name: domain for domain in (BANK, DMV, HEALTHCARE, HOTEL, LIBRARY, ONLINE_MARKET, UNIVERSITY)
}
