"""Put on the path of jobs, this makes each trial take a while, however fast the machine is."""

import os
import time

_fsync = os.fsync


def _slow_fsync(descriptor: int) -> None:
    time.sleep(0.3)
    _fsync(descriptor)


os.fsync = _slow_fsync
