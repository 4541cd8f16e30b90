# FKS publishes nothing of its own yet: its rows stand in results/table.csv.
