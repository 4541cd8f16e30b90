"""All parts of the dmv domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.dmv.procedure import PROCEDURE
from assay.sopbench.domains.dmv.scenario import SCENARIO
from assay.sopbench.domains.dmv.texts import TEXTS
from assay.sopbench.domains.dmv.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
