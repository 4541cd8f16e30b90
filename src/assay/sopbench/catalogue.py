"""The seven domains by name. Steps of one domain import that domain alone, so that an edit re-runs nothing else."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.bank.procedure import PROCEDURE as BANK

PROCEDURES: dict[str, Procedure] = {procedure.name: procedure for procedure in (BANK,)}
