from typing import Any

from numpy.typing import NDArray

def distance_sums(
    points: NDArray[Any], sums: NDArray[Any], n_objects: int, n_features: int, n_tasks: int, /
) -> None: ...
def pareto_front(
    points: NDArray[Any], front: NDArray[Any], n_objects: int, n_features: int, n_tasks: int, /
) -> None: ...
