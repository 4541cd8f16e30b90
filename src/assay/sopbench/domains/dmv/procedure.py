"""What is enforced in the dmv domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.dmv.constraints import DmvSession
from assay.sopbench.domains.dmv.functions import Dmv
from assay.sopbench.domains.dmv.rules import RULES

PROCEDURE = Procedure("dmv", Dmv, DmvSession, RULES)
