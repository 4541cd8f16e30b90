"""All parts of the hotel domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.hotel.procedure import PROCEDURE
from assay.sopbench.domains.hotel.scenario import SCENARIO
from assay.sopbench.domains.hotel.texts import TEXTS
from assay.sopbench.domains.hotel.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
