"""On the path of a job, this makes each trial take a while, however fast the machine is."""

import os
import time

_fsync = os.fsync


def _slow_fsync(descriptor: int) -> None:
    time.sleep(float(os.environ["SLOW_DISK"]))
    _fsync(descriptor)


if "SLOW_DISK" in os.environ:
    os.fsync = _slow_fsync
