"""All parts of the library domain."""

from assay.sopbench.domain import Domain
from assay.sopbench.domains.library.procedure import PROCEDURE
from assay.sopbench.domains.library.scenario import SCENARIO
from assay.sopbench.domains.library.texts import TEXTS
from assay.sopbench.domains.library.tools import TOOLBOX

DOMAIN = Domain(PROCEDURE, TEXTS, TOOLBOX, SCENARIO)
