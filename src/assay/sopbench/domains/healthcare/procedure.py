"""What is enforced in the healthcare domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.healthcare.constraints import HealthcareSession
from assay.sopbench.domains.healthcare.functions import Healthcare
from assay.sopbench.domains.healthcare.rules import RULES

PROCEDURE = Procedure("healthcare", Healthcare, HealthcareSession, RULES)
