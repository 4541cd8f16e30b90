"""Row types shared by stages, and the files they live in."""
