"""The seven domains by name. Steps of one domain import that domain alone, so that an edit re-runs nothing else."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.bank.procedure import PROCEDURE as BANK
from assay.sopbench.domains.dmv.procedure import PROCEDURE as DMV
from assay.sopbench.domains.healthcare.procedure import PROCEDURE as HEALTHCARE
from assay.sopbench.domains.hotel.procedure import PROCEDURE as HOTEL
from assay.sopbench.domains.library.procedure import PROCEDURE as LIBRARY
from assay.sopbench.domains.online_market.procedure import PROCEDURE as ONLINE_MARKET
from assay.sopbench.domains.university.procedure import PROCEDURE as UNIVERSITY

PROCEDURES: dict[str, Procedure] = {
    procedure.name: procedure for procedure in (BANK, DMV, HEALTHCARE, HOTEL, LIBRARY, ONLINE_MARKET, UNIVERSITY)
}
