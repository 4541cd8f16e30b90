"""A small benchmark that comes in through the door for new benchmarks, so that engine tests run real steps."""
