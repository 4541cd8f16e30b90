"""All parts of the university domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.university.procedure import PROCEDURE
from assay.sopbench.domains.university.scenario import SCENARIO
from assay.sopbench.domains.university.texts import TEXTS
from assay.sopbench.domains.university.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
