"""What the SymBench tests share stands in modules beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # examples, scripted, scripted_server
