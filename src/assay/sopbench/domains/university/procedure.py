"""What is enforced in the university domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.university.constraints import UniversitySession
from assay.sopbench.domains.university.functions import University
from assay.sopbench.domains.university.rules import RULES

PROCEDURE = Procedure("university", University, UniversitySession, RULES)
