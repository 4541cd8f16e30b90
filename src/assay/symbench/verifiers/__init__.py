"""One verifier a task: `verify(sample, answer, profile) -> Verdict`, both profiles, nothing about prompts."""
