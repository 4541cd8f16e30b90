# Stable names for people. A published file is a copy of an artifact. The engine cannot see from its name which
# artifact it is a copy of, so the file is nobody's declared output: a rule *named* like the path is the target, and
# when the copy is not the planned artifact's it asks for a marker whose name is new at every parse.
STATE = PublishedState(PROJECT.published)


def wanted(path):
    """What a published path needs: its artifact if the copy is right, else a marker that never exists."""
    return ancient(str(STATE.manifest(path))) if STATE.current(path) else STATE.marker(path)


# The main targets also ask for every planned artifact: what somebody deleted is made again, and only that.
EVERYTHING = artifacts(*STAGES)


rule publish:
    input:
        lambda w: ancient(str(STATE.manifest(w.path))),
    output:
        temp(touch(STATE.marker("{path}"))),
    wildcard_constraints:
        path=".+",
    localrule: True  # another process would draw another token
    params:
        source=lambda w: STATE.source(w.path),
    shell:
        "assay publish {params.source} {wildcards.path}"


for _path in STATE.paths:

    rule:
        name:
            _path
        input:
            [wanted(path) for path in STATE.together(_path)],
            EVERYTHING if _path == STATE.main else [],
        localrule: True
