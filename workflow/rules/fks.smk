# FKS needs no rules of its own: the rules per stage make its artifacts, and its tables are published by name.
