"""What is enforced in the online_market domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.online_market.constraints import OnlineMarketSession
from assay.sopbench.domains.online_market.functions import OnlineMarket
from assay.sopbench.domains.online_market.rules import RULES

PROCEDURE = Procedure("online_market", OnlineMarket, OnlineMarketSession, RULES)
