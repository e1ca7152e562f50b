"""Environments for reinforcement learning: agents trade in an exchange of a local process.

An action from -1 to 1 is a target position, as a share of ``max_position``. An observation has the
figures of ``OBSERVATION``. The reward is the change of equity. Equal seeds and actions give equal
trajectories: ``info['trajectory']`` at the end is their SHA-256.
"""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .command import Bridge, OrreryError, library_options, optional

OBSERVATION = (
    "bid",
    "ask",
    "bid_size",
    "ask_size",
    "open",
    "high",
    "low",
    "close",
    "volume",
    "position",
    "equity",
)

_gymnasium = optional("gymnasium")
_pettingzoo = optional("pettingzoo")


class Box:
    """The part of ``gymnasium.spaces.Box`` that an agent needs, where gymnasium is missing."""

    def __init__(self, low: float, high: float, shape: Tuple[int, ...]) -> None:
        self.low = np.full(shape, low, dtype=np.float64)
        self.high = np.full(shape, high, dtype=np.float64)
        self.shape = shape
        self.dtype = np.dtype(np.float64)
        self._random = np.random.default_rng()

    def seed(self, seed: Optional[int] = None) -> List[Optional[int]]:
        self._random = np.random.default_rng(seed)
        return [seed]

    def sample(self) -> np.ndarray:
        low = np.maximum(self.low, -1e9)
        high = np.minimum(self.high, 1e9)
        return self._random.uniform(low, high)

    def contains(self, value: Any) -> bool:
        array = np.asarray(value)
        if array.shape != self.shape or not np.can_cast(array.dtype, self.dtype):
            return False
        return bool(np.all(array >= self.low) and np.all(array <= self.high))

    def __contains__(self, value: Any) -> bool:
        return self.contains(value)


def _box(low: float, high: float, shape: Tuple[int, ...]) -> Any:
    if _gymnasium is None:
        return Box(low, high, shape)
    return _gymnasium.spaces.Box(low, high, shape, dtype=np.float64)


class _Episodes:
    """Episodes of one process."""

    def __init__(
        self, agents: List[str], step: float, max_position: float, options: Mapping[str, Any]
    ) -> None:
        self._request = {
            "kind": "environment",
            "agents": agents,
            "stepUs": round(step * 1e6),
            "maxPosition": max_position,
            "options": library_options(options),
        }
        self._bridge: Optional[Bridge] = None
        self.playing = False

    def reset(self, seed: int, options: Mapping[str, Any]) -> Dict[str, Any]:
        self.playing = False
        if self._bridge is None or not self._bridge.is_open:
            self._bridge = Bridge(self._request)
            self._bridge.receive()
        chosen = {key: options.get(key) for key in ("from", "to")}
        message = self._bridge.ask({"reset": seed, **chosen})
        self.playing = "d" not in message
        return message

    def step(self, actions: List[float]) -> Dict[str, Any]:
        if self._bridge is None or not self.playing:
            raise OrreryError("no episode is in progress: call reset")
        # Until the answer, so that an episode whose process has ended is over.
        self.playing = False
        # Finite floats print the same in Python and JSON.
        self._bridge.send_line(b'{"a":[%b]}\n' % ",".join(map(repr, actions)).encode())
        message = self._bridge.receive()
        self.playing = "d" not in message
        return message

    def close(self) -> None:
        self.playing = False
        if self._bridge is not None:
            self._bridge.close()
            self._bridge = None


def _action(value: Any) -> float:
    values = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=np.float64)
    if values.size != 1:
        raise ValueError(f"an action of shape {values.shape}: must have one number")
    number = float(values.item())
    if not -1.0 <= number <= 1.0:
        raise ValueError(f"action {number}: must be from -1 to 1")
    return number


def _limit(max_steps: Optional[int]) -> Optional[int]:
    if max_steps is None:
        return None
    try:
        limit = operator.index(max_steps)
    except TypeError:
        limit = 0
    if limit < 1 or isinstance(max_steps, bool):
        raise ValueError(f"max_steps {max_steps!r}: must be a whole number of at least 1")
    return limit


def _info(message: Mapping[str, Any]) -> Dict[str, Any]:
    info: Dict[str, Any] = {"time_us": message["t"]}
    if "trajectory" in message:
        info["trajectory"] = message["trajectory"]
        info["chain_hash"] = message["chainHash"]
    return info


def _next_seed(environment: Any, seed: Optional[int]) -> int:
    """The seed of an episode: the given one, else a number that follows from it.

    The generator is ``np_random`` of the environment, as ``gymnasium.Env`` has it.
    """
    if seed is not None or environment._np_random is None:
        environment._np_random_seed = 0 if seed is None else int(seed)
        environment._np_random = np.random.default_rng(environment._np_random_seed)
    return int(environment._np_random.integers(2**31)) if seed is None else int(seed)


class _Env:
    """The part of ``gymnasium.Env`` that an agent needs, where gymnasium is missing."""

    _np_random: Optional[np.random.Generator] = None
    _np_random_seed: Optional[int] = None

    @property
    def np_random(self) -> np.random.Generator:
        if self._np_random is None:
            self._np_random, self._np_random_seed = np.random.default_rng(0), 0
        return self._np_random

    @property
    def np_random_seed(self) -> Optional[int]:
        return self._np_random_seed

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()  # type: ignore[attr-defined]


class Environment(_gymnasium.Env if _gymnasium is not None else _Env):  # type: ignore[misc]
    """One agent, with the interface of ``gymnasium.Env``.

    ``step`` is in seconds. ``max_steps`` truncates an episode. Other options are those of
    ``backtest`` of the library, such as ``data``, ``fees`` and ``latency``; ``reset`` takes ``from``
    and ``to`` in its options.
    """

    metadata: Dict[str, Any] = {"render_modes": []}
    render_mode: Optional[str] = None
    spec: Any = None

    def __init__(
        self,
        *,
        step: float = 60.0,
        max_position: float = 1.0,
        max_steps: Optional[int] = None,
        **options: Any,
    ) -> None:
        self._episodes = _Episodes(["agent"], step, max_position, options)
        self._np_random: Optional[np.random.Generator] = None
        self._np_random_seed: Optional[int] = None
        self._max_steps = _limit(max_steps)
        self._steps = 0
        self.observation_space = _box(-np.inf, np.inf, (len(OBSERVATION),))
        self.action_space = _box(-1.0, 1.0, (1,))

    @property
    def unwrapped(self) -> "Environment":
        return self

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        message = self._episodes.reset(_next_seed(self, seed), options or {})
        self._steps = 0
        return np.array(message["o"][0], dtype=np.float64), _info(message)

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        message = self._episodes.step([_action(action)])
        self._steps += 1
        truncated = self._max_steps is not None and self._steps >= self._max_steps
        observation = np.array(message["o"][0], dtype=np.float64)
        return observation, float(message["r"][0]), "d" in message, truncated, _info(message)

    def render(self) -> None:
        """The report of a run shows more than a picture could."""

    def close(self) -> None:
        self._episodes.close()


class ParallelEnvironment(
    _pettingzoo.ParallelEnv if _pettingzoo is not None else object  # type: ignore[misc]
):
    """Several agents in one exchange, with the parallel interface of PettingZoo."""

    metadata: Dict[str, Any] = {"name": "orrery_v0", "render_modes": []}
    render_mode: Optional[str] = None

    def __init__(
        self,
        agents: List[str],
        *,
        step: float = 60.0,
        max_position: float = 1.0,
        max_steps: Optional[int] = None,
        **options: Any,
    ) -> None:
        self.possible_agents = list(agents)
        self.agents: List[str] = []
        self._episodes = _Episodes(self.possible_agents, step, max_position, options)
        self._np_random: Optional[np.random.Generator] = None
        self._np_random_seed: Optional[int] = None
        self._max_steps = _limit(max_steps)
        self._steps = 0
        self.observation_spaces = {
            name: _box(-np.inf, np.inf, (len(OBSERVATION),)) for name in agents
        }
        self.action_spaces = {name: _box(-1.0, 1.0, (1,)) for name in agents}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    @property
    def unwrapped(self) -> "ParallelEnvironment":
        return self

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        return len(self.possible_agents)

    def reset(
        self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, np.ndarray], Dict[str, Dict[str, Any]]]:
        message = self._episodes.reset(_next_seed(self, seed), options or {})
        self._steps = 0
        self.agents = list(self.possible_agents)
        return self._observations(message), self._each(_info(message))

    def step(self, actions: Mapping[str, Any]) -> Tuple[
        Dict[str, np.ndarray],
        Dict[str, float],
        Dict[str, bool],
        Dict[str, bool],
        Dict[str, Dict[str, Any]],
    ]:
        if not self.agents:
            raise OrreryError("no episode is in progress: call reset")
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise ValueError(f"no action of agent {', '.join(missing)}")
        message = self._episodes.step([_action(actions[name]) for name in self.possible_agents])
        self._steps += 1
        over = "d" in message
        truncated = self._max_steps is not None and self._steps >= self._max_steps
        result = (
            self._observations(message),
            {name: float(reward) for name, reward in zip(self.possible_agents, message["r"])},
            self._each(over),
            self._each(truncated),
            self._each(_info(message)),
        )
        if over or truncated:
            self.agents = []
        return result

    def _observations(self, message: Mapping[str, Any]) -> Dict[str, np.ndarray]:
        return {
            name: np.array(row, dtype=np.float64)
            for name, row in zip(self.possible_agents, message["o"])
        }

    def _each(self, value: Any) -> Dict[str, Any]:
        copies = (dict(value) if isinstance(value, dict) else value for _ in self.possible_agents)
        return dict(zip(self.possible_agents, copies))

    def render(self) -> None:
        """The report of a run shows more than a picture could."""

    def close(self) -> None:
        self.agents = []
        self._episodes.close()
