"""A real SLURM on one machine: simulated nodes with fake GPUs, in a folder of its own.

Nothing outside of that folder is touched: own configuration, ports and authentication, so a SLURM
that this machine may belong to goes on undisturbed. Needs root and Debian's packages
munge, slurmctld, slurmd and slurm-client; no systemd, no cgroups, no GPU.

    python tests/cluster/cluster.py       # a shell in which sbatch and cschoice use such a cluster
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# Devices that exist everywhere stand for the GPUs: SLURM insists on character devices.
GPUS = ("/dev/null", "/dev/zero")
COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "unshare", "setpriv")

CONFIGURATION = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is put back into the queue waits for as long as credentials last.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
SlurmdTimeout=6
KillWait=1
DefMemPerCPU=1000
MaxArraySize=31
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
"""
ACCOUNTING = """accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits"""
DATABASE = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdPort={port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
"""
NODE = (
    "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000 "
    "Gres=gpu:fake:{n_gpus}\n"
)


def why_not(*more: str) -> str:
    """Return why no cluster can be started here, with more commands needed; empty if one can."""
    missing = [command for command in (*COMMANDS, *more) if shutil.which(command) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if os.geteuid() != 0:
        return "starting SLURM's daemons needs root"
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode:
        return "nodes with names of their own need the right to unshare"
    return ""


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come in {seconds} seconds"
        time.sleep(0.1)


class Cluster:
    """Two nodes with two GPUs each, and accidents that can happen to them.

    With accounting (needs slurmdbd and mariadb-server), limits per user hold and sacct answers.
    """

    def __init__(self, folder: Path, *, accounting: bool = False) -> None:
        self.folder, self.accounting = folder, accounting
        self.nodes = ("n1", "n2")
        self.environment = {
            **{name: value for name, value in os.environ.items() if "SLURM" not in name},
            "SLURM_CONF": str(folder / "slurm.conf"),
            "MYSQL_UNIX_PORT": str(folder / "mysql.socket"),
        }
        self.watching: list[subprocess.Popen[str]] = []
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._configure()

    def _configure(self) -> None:
        host = socket.gethostname().split(".")[0]
        ports = iter(free_ports(1 + len(self.nodes)))
        text = CONFIGURATION.format(host=host, port=next(ports), folder=self.folder)
        for name in self.nodes:
            text += NODE.format(name=name, port=next(ports), n_gpus=len(GPUS))
            (self.folder / name).mkdir()
        if self.accounting:
            port = free_ports(1)[0]
            (self.folder / "slurmdbd.conf").write_text(
                DATABASE.format(port=port, folder=self.folder)
            )
            (self.folder / "slurmdbd.conf").chmod(0o600)
            text = text.replace(
                "accounting_storage/none", ACCOUNTING.format(port=port, folder=self.folder)
            )
        (self.folder / "slurm.conf").write_text(text)
        gpus = f"NodeName={','.join(self.nodes)} Name=gpu Type=fake File={','.join(GPUS)}\n"
        (self.folder / "gres.conf").write_text(gpus)
        (self.folder / "state").mkdir()
        (self.folder / "munge.key").write_bytes(secrets.token_bytes(64))
        (self.folder / "munge.key").chmod(0o600)

    def start(self) -> None:
        """Start everything and wait until jobs can run."""
        munge = f"{self.folder}/munge"
        self._start(
            "munged", "munged", "--foreground", "--force", f"--socket={munge}.socket",
            f"--key-file={munge}.key", f"--pid-file={munge}.pid", f"--log-file={munge}.log",
            f"--seed-file={munge}.seed",
        )  # fmt: skip
        wait_for(Path(f"{munge}.socket").exists, "munged's start")
        if self.accounting:
            self._start_accounting()
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        wait_for(self._all_idle, "the nodes' start")

    def _start_accounting(self) -> None:
        data = f"--datadir={self.folder}/mysql"
        self.ask("mariadb-install-db", "--no-defaults", data, "--user=root")
        local = (f"--socket={self.folder}/mysql.socket", "--skip-networking", "--user=root")
        self._start("mariadbd", "mariadbd", "--no-defaults", data, *local)
        wait_for((self.folder / "mysql.socket").exists, "the database's start")
        self._start("slurmdbd", "slurmdbd", "-D")
        wait_for(lambda: "Cluster" in self.ask("sacctmgr", "show", "cluster"), "slurmdbd's start")
        self.ask("sacctmgr", "--immediate", "add", "cluster", "lab")
        self.ask("sacctmgr", "--immediate", "add", "account", "lab")
        self.ask("sacctmgr", "--immediate", "add", "user", "root", "account=lab")

    def stop(self) -> None:
        """End everything that belongs to this cluster, jobs too."""
        kill(pid for pid, _ in self._processes())
        for process in self._daemons.values():
            process.wait()

    def start_controller(self) -> None:
        """Start the controller; jobs it knew before it knows again."""
        self._start("slurmctld", "slurmctld", "-D")
        wait_for(lambda: "is UP" in self.ask("scontrol", "ping"), "the controller's start")

    def start_node(self, name: str) -> None:
        """Start a node; it has a host name of its own, because claims go by that."""
        words = f"hostname {name} && exec slurmd -D -N {name}"
        self._start(name, "unshare", "--uts", "sh", "-c", words, SIMULATED_NODE=name)

    def stop_controller(self) -> None:
        """End the controller in good order: after a crash it would go on from seconds ago."""
        self._daemons["slurmctld"].terminate()
        self._daemons["slurmctld"].wait()

    def forget(self) -> None:
        """Let the controller lose everything it knows of jobs."""
        self.stop_controller()
        for path in (self.folder / "state").glob("job_state*"):
            path.unlink()
        self.start_controller()

    def kill_node(self, name: str) -> None:
        """End everything on a node at once, as a power cut would."""
        on_it = ("SIMULATED_NODE", "SLURMD_NODENAME")
        kill(pid for pid, known in self._processes() if name in map(known.get, on_it))
        self._daemons[name].wait()

    def cut_off(self, name: str) -> None:
        """Let SLURM lose a node whose jobs go on, as a broken network would."""
        self._daemons[name].kill()
        self._daemons[name].wait()

    def ask(self, *command: str) -> str:
        """Run one of SLURM's commands."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return done.stdout

    def tasks(self) -> dict[str, tuple[str, str]]:
        """Return state and node of every task that SLURM knows, by its name."""
        listed = self.ask("squeue", "-r", "--states=all", "-h", "-o", "%i %T %N").splitlines()
        rows = (f"{line} -".split()[:3] for line in listed)
        return {name: (state, node) for name, state, node in rows}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let jobs be submitted and none of them start, during the block."""
        self.ask("scontrol", "update", "partitionname=gpu", "state=down")
        try:
            yield
        finally:
            self.ask("scontrol", "update", "partitionname=gpu", "state=up")

    def active(self) -> dict[str, tuple[str, str]]:
        """Return those that run or wait."""
        on_their_way = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")
        return {name: task for name, task in self.tasks().items() if task[0] in on_their_way}

    def mend(self) -> None:
        """End the runs that watch jobs, start killed nodes again, and empty the queue."""
        for process in self.watching:
            process.kill()
            process.communicate()
        self.watching.clear()
        if self._daemons["slurmctld"].poll() is not None:
            self.start_controller()
        for name in self.nodes:
            if self._daemons[name].poll() is not None:
                self.start_node(name)
        self.ask("scancel", "--user=root")
        wait_for(self._all_idle, "the end of all jobs")

    def _all_idle(self) -> bool:
        states = self.ask("sinfo", "-h", "-N", "-p", "gpu", "-o", "%N %T").split("\n")
        return {line for line in states if line} == {f"{name} idle" for name in self.nodes}

    def _start(self, name: str, *command: str, **environment: str) -> None:
        with (self.folder / f"{name}.out").open("a") as log:
            self._daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],  # whatever becomes of the tests
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _processes(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield every process of this cluster with its environment, which tells its node."""
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                entries = path.read_text(errors="replace").split("\0")
            except OSError:  # it ended just now
                continue
            known = dict(entry.split("=", 1) for entry in entries if "=" in entry)
            if known.get("SLURM_CONF") == self.environment["SLURM_CONF"]:
                yield int(path.parent.name), known


def kill(pids: Iterable[int]) -> None:
    """End processes so that none of them sees another one end."""
    ended = list(pids)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in ended:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def free_ports(n_ports: int) -> list[int]:
    """Return ports that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n_ports)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextmanager
def running_cluster(*, accounting: bool = False) -> Iterator[Cluster]:
    """Start a cluster in a new folder; stop it and remove the folder at the end."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    cluster = Cluster(folder, accounting=accounting)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if reason := why_not():
        raise SystemExit(f"error: no SLURM here: {reason}")
    with running_cluster() as started:
        subprocess.run([os.environ.get("SHELL", "sh")], env=started.environment)
