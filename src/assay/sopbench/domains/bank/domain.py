"""All parts of the bank domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.bank.procedure import PROCEDURE
from assay.sopbench.domains.bank.scenario import SCENARIO
from assay.sopbench.domains.bank.texts import TEXTS
from assay.sopbench.domains.bank.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
