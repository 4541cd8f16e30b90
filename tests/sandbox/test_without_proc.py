"""Where the kernel mounts no new /proc, as in most containers, a snippet has an empty one and all guarantees hold."""

import json

import pytest

from assay.sandbox.guarantees import GUARANTEES

LEFT = """
import json
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

code = '''
import os
for change in (lambda: os.chmod('/proc', 0o755), lambda: open('/proc/left', 'w')):
    try:
        change()
    except OSError as error:
        print(error.strerror)
print(os.listdir('/proc'))
'''
with Executor(Executions(repeat_check_fraction=0), workers=1) as executor:
    print(json.dumps([result.final.stdout.decode() for result in executor.execute([Request(code)] * 2)]))
"""

users = pytest.mark.parametrize("ordinary", [True, False], ids=["unprivileged", "this user"])


@users
def test_all_guarantees_hold(command, ordinary):
    found = json.loads(command("sandbox", "probe", "--json", ordinary=ordinary, covered=True).stdout)
    assert (found["mechanism"], found["proc"]) == ("namespaces", "none")
    assert found["held"] == list(GUARANTEES), found["missing"]


@users
def test_nothing_can_be_left_in_the_empty_folder(command, ordinary):
    done = command(program=("-c", LEFT), ordinary=ordinary, covered=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["Read-only file system\nRead-only file system\n[]\n"] * 2
