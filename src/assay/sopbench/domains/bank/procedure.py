"""What is enforced in the bank domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.bank.constraints import BankSession
from assay.sopbench.domains.bank.functions import Bank
from assay.sopbench.domains.bank.rules import RULES

PROCEDURE = Procedure("bank", Bank, BankSession, RULES)
