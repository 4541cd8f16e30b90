"""What is enforced in the library domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.library.constraints import LibrarySession
from assay.sopbench.domains.library.functions import Library
from assay.sopbench.domains.library.rules import RULES

PROCEDURE = Procedure("library", Library, LibrarySession, RULES)
