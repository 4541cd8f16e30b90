# One rule per stage. A rule carries manifests as inputs, marked ancient; the key in the path does the rest.


rule queries:
    input:
        needs("queries"),
    output:
        makes("queries"),
    shell:
        "{MAKE} queries {wildcards.item} {wildcards.key}"


rule tasks:
    input:
        needs("tasks"),
    output:
        makes("tasks"),
    shell:
        "{MAKE} tasks {wildcards.item} {wildcards.key}"


rule prompts:
    input:
        needs("prompts"),
    output:
        makes("prompts"),
    shell:
        "{MAKE} prompts {wildcards.item} {wildcards.key}"


rule generations:
    input:
        needs("generations"),
    output:
        makes("generations"),
    threads: 2
    resources:
        model=1,
    shell:
        "{MAKE} generations {wildcards.item} {wildcards.key}"


rule executions:
    input:
        needs("executions"),
    output:
        makes("executions"),
    threads: 2
    shell:
        "{MAKE} executions {wildcards.item} {wildcards.key}"


rule rollouts:
    input:
        needs("rollouts"),
    output:
        makes("rollouts"),
    threads: 2
    resources:
        model=1,
    shell:
        "{MAKE} rollouts {wildcards.item} {wildcards.key}"


rule hidden:
    input:
        needs("hidden"),
    output:
        makes("hidden"),
    threads: 2
    resources:
        model=1,
    shell:
        "{MAKE} hidden {wildcards.item} {wildcards.key}"


rule lens:
    input:
        needs("lens"),
    output:
        makes("lens"),
    threads: 2
    resources:
        model=1,
    shell:
        "{MAKE} lens {wildcards.item} {wildcards.key}"


rule labels:
    input:
        needs("labels"),
    output:
        makes("labels"),
    shell:
        "{MAKE} labels {wildcards.item} {wildcards.key}"


rule judgements:
    input:
        needs("judgements"),
    output:
        makes("judgements"),
    threads: 2
    resources:
        model=1,
    shell:
        "{MAKE} judgements {wildcards.item} {wildcards.key}"


rule verdicts:
    input:
        needs("verdicts"),
    output:
        makes("verdicts"),
    shell:
        "{MAKE} verdicts {wildcards.item} {wildcards.key}"


rule clusters:
    input:
        needs("clusters"),
    output:
        makes("clusters"),
    shell:
        "{MAKE} clusters {wildcards.item} {wildcards.key}"


rule metrics:
    input:
        needs("metrics"),
    output:
        makes("metrics"),
    shell:
        "{MAKE} metrics {wildcards.item} {wildcards.key}"


rule table:
    input:
        needs("table"),
    output:
        makes("table"),
    shell:
        "{MAKE} table {wildcards.item} {wildcards.key}"


rule report:
    input:
        needs("report"),
    output:
        makes("report"),
    shell:
        "{MAKE} report {wildcards.item} {wildcards.key}"
