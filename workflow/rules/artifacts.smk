# Paths of artifacts. A path contains the key of its recipe, so "it exists" means "it is current".
import os

from assay.artifact.stages import GROUPS, STAGES
from assay.workflow import PublishedState, plan_or_stop, release_stale_locks, shown_by

EXPERIMENT = config.get("experiment")
PROJECT = plan_or_stop(config)
PLAN = PROJECT.plan
MAKE = "assay make" + (f" --experiment {EXPERIMENT}" if EXPERIMENT else "")
LOCKS = release_stale_locks(PROJECT.root)


def needs(stage):
    """Manifests of the artifacts that one artifact is made from; their age is irrelevant.

    What is not in the plan has none: `assay make` says so in a sentence.
    """
    return lambda w: [ancient(str(p.manifest)) for _, p in getattr(PLAN.get((stage, w.item)), "needs", ())]


def makes(stage):
    """Files that every artifact of a stage has, the manifest last.

    The engine runs the jobs next to one whose artifact was deleted, and would delete their outputs first; `update`
    forbids that, and `assay make` finds them present.
    """
    here = f"results/{stage}/{{item}}/{{key}}"
    return [update(f"{here}/{name}") for name in (*STAGES[stage].outputs, "manifest.json")]


def artifacts(*stages):
    """What shows that every planned artifact of some stages is there; a function, so that only the target's is made."""
    return lambda _: [ancient(path) for p in PLAN.values() if p.job.stage in stages for path in shown_by(p)]


wildcard_constraints:
    key="[0-9a-f]{12}",
    item="[^/]+",


for _group in GROUPS:

    rule:
        name:
            f"all_{_group}"
        input:
            artifacts(*(s for s, stage in STAGES.items() if stage.group == _group)),
        localrule: True
