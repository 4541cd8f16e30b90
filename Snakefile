# Table of contents: the rules, and the target of a bare `snakemake`.
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/steps.smk"
include: "workflow/rules/publish.smk"


# It must stand here: `include:` resets the default target.
rule published:
    default_target: True
    input:
        [wanted(path) for path in STATE.paths],
        EVERYTHING,
    localrule: True
