"""Bootstrap, permutation, intervals and corrections."""
