"""One generic step per stage: reads artifacts, calls the job's function, writes files."""
