"""Tables, plots and pages made from metric artifacts."""
