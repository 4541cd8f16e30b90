"""Programs that run around and inside the sandbox. Standard library only: nothing of Assay is visible there."""
