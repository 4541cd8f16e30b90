"""What is enforced in the hotel domain."""

from assay.sopbench.domain import Procedure
from assay.sopbench.domains.hotel.constraints import HotelSession
from assay.sopbench.domains.hotel.functions import Hotel
from assay.sopbench.domains.hotel.rules import RULES

PROCEDURE = Procedure("hotel", Hotel, HotelSession, RULES)
