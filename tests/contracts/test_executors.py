"""The promises of every executor; on SLURM it takes a cluster to see, see tests/cluster."""

from cschoice.runs.executors import EXECUTORS
from cschoice.testing import executor_checks, parametrize_with_checks

HERE = [name for name in EXECUTORS if name != "slurm"]


@parametrize_with_checks(check for name in HERE for check in executor_checks(name))
def test_an_executor_keeps_its_promises(check):
    check()
