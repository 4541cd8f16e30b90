"""All parts of the online_market domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.online_market.procedure import PROCEDURE
from assay.sopbench.domains.online_market.scenario import SCENARIO
from assay.sopbench.domains.online_market.texts import TEXTS
from assay.sopbench.domains.online_market.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
