"""All parts of the healthcare domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.healthcare.procedure import PROCEDURE
from assay.sopbench.domains.healthcare.scenario import SCENARIO
from assay.sopbench.domains.healthcare.texts import TEXTS
from assay.sopbench.domains.healthcare.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
