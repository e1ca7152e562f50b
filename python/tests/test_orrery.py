"""Tests of the package, with numpy and pandas only: ``npm run test:python``."""

import gc
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from decimal import Decimal
from typing import Dict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
os.environ.setdefault("ORRERY", f"node {os.path.join(ROOT, 'dist/cli/main.js')}")
os.environ["PYTHONWARNINGS"] = "error"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import orrery  # noqa: E402
from orrery.command import program  # noqa: E402
from orrery.environment import OBSERVATION, _gymnasium, _pettingzoo  # noqa: E402

DATA = os.path.join(ROOT, "data/btcusdt-20240808")
CROSS = os.path.join(ROOT, "examples/strategies/sma-cross.ts")
FROM, TO = "2024-08-08T23:54:20Z", "2024-08-08T23:55:20Z"


def members(group: int) -> list:
    """Processes of a group that run."""
    rows = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True).stdout
    found = [row.split() for row in rows.splitlines()]
    return [state for one, state in found if int(one) == group and not state.startswith("Z")]


def random_walk(rows: int) -> pd.DataFrame:
    """OHLCV with names in upper case and a DatetimeIndex, as yfinance has them."""
    random = np.random.default_rng(1)
    close = (60_000 + np.cumsum(random.normal(0, 100, rows))).round(1)
    columns = {"Open": close, "High": close + 50, "Low": close - 50, "Close": close}
    index = pd.date_range("2024-01-01", periods=rows, freq="h")
    return pd.DataFrame({**columns, "Volume": np.full(rows, 10.001)}, index=index)


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="orrery-python-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)


class RunTest(Folder):
    def test_two_runs_concatenate(self) -> None:
        common = {"data": DATA, "to": TO, "check": False}
        cross = orrery.backtest(CROSS, parameters={"fast": 3}, out=self.path("a"), **common)
        quotes = os.path.join(ROOT, "examples/strategies/quotes.ts")
        maker = orrery.backtest(quotes, out=self.path("b"), **common)
        for name in orrery.runs.TABLES:
            left, right = cross.tables[name], maker.tables[name]
            self.assertEqual(list(left.columns), list(right.columns), name)
            kinds = [
                [("text" if str(kind) == "category" else str(kind)) for kind in frame.dtypes]
                for frame in (left, right)
            ]
            self.assertEqual(kinds[0], kinds[1], name)
            both = pd.concat([left, right], ignore_index=True)
            self.assertEqual(len(both), len(left) + len(right), name)
        runs = {"cross": cross, "maker": maker}
        for name in orrery.runs.TABLES:
            both = orrery.concat(runs, name)
            self.assertEqual(list(both.columns), ["run", *cross.tables[name].columns])
            for column, kind in cross.tables[name].dtypes.items():
                self.assertEqual(str(both[column].dtype), str(kind), f"{name}.{column}")
            self.assertEqual(
                both.loc[both["run"] == "maker"].drop(columns="run").astype(str).values.tolist(),
                maker.tables[name].astype(str).values.tolist(),
            )
        with self.assertRaisesRegex(orrery.OrreryError, "no table fees"):
            orrery.concat(runs, "fees")
        fills = cross.fills
        self.assertGreater(len(fills), 0)
        self.assertEqual(str(fills["time"].dtype), "datetime64[ns, UTC]")
        self.assertEqual(str(fills["fill_id"].dtype), "int64")
        turnover = float((fills["price"] * fills["size"]).sum())
        self.assertAlmostEqual(turnover, float(cross.summary["turnover"]), places=4)

    def test_frames_of_parquet_are_those_of_npz(self) -> None:
        times = pd.to_datetime(["2024-01-01T00:00:00.000001Z", None], utc=True)
        read = pd.DataFrame({"time": times, "tag": ["b", None], "fill_id": [1, 2], "fee": [0.5, None]})
        found = orrery.runs.same(read)
        kinds = ["datetime64[ns, UTC]", "category", "int64", "float64"]
        self.assertEqual([str(kind) for kind in found.dtypes], kinds)
        self.assertEqual(list(found["tag"].cat.categories), ["b"])
        self.assertTrue(found["tag"].isna()[1])
        empty = orrery.runs.same(read.iloc[:0])
        self.assertEqual([str(kind) for kind in empty.dtypes], kinds)

    def test_a_sweep_has_a_row_for_each_trial(self) -> None:
        found = orrery.sweep(
            CROSS,
            data=DATA,
            vary={"fast": "3,5"},
            trials=2,
            method="grid",
            to=TO,
            out=self.path("sweep"),
            check=False,
            robustness=False,
            ledger=False,
        )
        self.assertEqual(len(found.trials), 2)

    def test_a_walk_forward_has_a_row_for_each_window(self) -> None:
        walk = orrery.walk_forward(
            CROSS,
            data=DATA,
            train="2m",
            test="1m",
            vary={"fast": "3,5"},
            method="grid",
            out=self.path("walk"),
            check=False,
            ledger=False,
        )
        windows = walk.windows
        self.assertEqual(len(windows), len(walk.result["windows"]))
        self.assertGreater(len(windows), 1)
        self.assertTrue((windows["test_from"] >= windows["train_to"]).all())
        self.assertTrue(set(windows["fast"]) <= {3, 5})
        self.assertEqual(str(windows["test_to"].dtype), "datetime64[ns, UTC]")
        self.assertIn("sharpe", walk.metrics)

    def test_errors_name_their_cause(self) -> None:
        with self.assertRaisesRegex(orrery.OrreryError, "none.ts"):
            orrery.backtest("none.ts", data=DATA)
        with self.assertRaisesRegex(orrery.OrreryError, "no such folder"):
            orrery.open_run(self.path("none"))

        with self.assertRaisesRegex(orrery.OrreryError, "no run; orrery backtest writes run.json"):
            orrery.open_run(self.folder)
        # The note on missing types comes before the error.
        with self.assertRaisesRegex(orrery.OrreryError, "^orrery: unknown parameter 'fsat'"):
            orrery.backtest(CROSS, data=DATA, parameters={"fsat": 3}, out=self.path("none"))

    def test_options_are_paths_numbers_and_times_of_python(self) -> None:
        given = orrery.command.options(
            {
                "data": pathlib.Path("a/b"),
                "from_": pd.Timestamp("2024-01-02T01:00", tz="Europe/Berlin"),
                "to": pd.Timestamp("2024-01-03").to_pydatetime(),
                "trials": np.int64(3),
                "fees": (0.00001, "0.0004"),
                "param": {"fast": np.int64(4)},
                "vary": {"fast": [3, 5], "slow": np.arange(8, 10), "bar": ("1s", "2s")},
            }
        )
        words = ["--data=a/b", "--from=2024-01-02T00:00:00.000000Z"]
        words += ["--to=2024-01-03T00:00:00.000000Z", "--trials=3", "--fees=0.00001,0.0004"]
        words += ["--param=fast=4", "--vary=fast=3,5", "--vary=slow=8,9", "--vary=bar=1s,2s"]
        self.assertEqual(given, words)
        for fees in ("0.0001,0.0004", (0.0001, 0.0004), {"maker": 0.0001, "taker": "0.0004"}):
            chosen = orrery.command.library_options({"fees": fees, "balance": 100, "warm_up": "1h"})
            pair = {"maker": "0.0001", "taker": "0.0004"}
            self.assertEqual(chosen, {"fees": pair, "balance": "100", "warmUp": "1h"})
        with self.assertRaisesRegex(orrery.OrreryError, "fees '0.1': must be two ratios"):
            orrery.command.options({"fees": "0.1"})

    def test_an_interrupt_ends_every_process(self) -> None:
        """Of a command that starts another one, as npx does; the signal is that of Jupyter."""
        script = (
            "import orrery\n"
            "class Slow(orrery.Strategy):\n"
            "    def on_trade(self, trade, context):\n"
            "        print('trading', flush=True)\n"
            "        while True: pass\n"
            f"orrery.run_strategy(Slow(), data={DATA!r})"
        )
        search = (
            "import orrery\nprint('trading', flush=True)\n"
            f"orrery.sweep({CROSS!r}, data={DATA!r}, vary={{'fast': '3:9:1'}}, trials=4000, "
            f"ledger=False, check=False, out={self.path('sweep')!r})"
        )
        inner = f"echo $$ > {self.path('pid')}; {shlex.join(program())} \"$@\"; true"
        starter = f"sh -c {shlex.quote(inner)} sh"
        for code, wait in ((script, 0), (search, 2)):
            environment = {
                **os.environ,
                "PYTHONPATH": os.path.join(ROOT, "python"),
                "ORRERY": starter,
            }
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            with subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes) as child:
                self.assertEqual(child.stdout.readline(), b"trading\n")
                time.sleep(wait)
                with open(self.path("pid")) as file:
                    group = int(file.read())
                self.assertGreater(len(members(group)), 1)
                child.send_signal(signal.SIGINT)
                _, errors = child.communicate(timeout=60)
            self.assertIn(b"KeyboardInterrupt", errors)
            for _ in range(50):
                if not members(group):
                    break
                time.sleep(0.1)
            self.assertEqual(members(group), [])

    def test_a_command_that_is_not_orrery_is_named(self) -> None:
        self.addCleanup(os.environ.__setitem__, "ORRERY", os.environ["ORRERY"])
        calls = (
            lambda: orrery.backtest(CROSS, data=DATA),
            lambda: orrery.run_strategy(orrery.Strategy(), data=DATA),
        )
        for command, message in (
            ("/bin/echo", "^'/bin/echo' is not orrery: it answers 'b.*set ORRERY"),
            ("/bin/false", "has ended with exit code 1$"),
            ("env PATH=/none /bin/sh -c 'exec node'", "not found.*install Node.js 20"),
        ):
            os.environ["ORRERY"] = command
            for call in calls:
                with self.assertRaisesRegex(orrery.OrreryError, message):
                    call()

    def test_a_missing_command_or_package_is_named_in_one_line(self) -> None:
        self.addCleanup(os.environ.__setitem__, "ORRERY", os.environ["ORRERY"])
        os.environ["ORRERY"] = "no-such-orrery"
        calls = [
            lambda: orrery.backtest(CROSS, data=DATA),
            lambda: orrery.Environment(data=DATA).reset(seed=1),
        ]
        for call in calls:
            with self.assertRaises(orrery.OrreryError) as caught:
                call()
            self.assertRegex(str(caught.exception), "^the command 'no-such-orrery' cannot .*ORRERY")
        program = "import sys; sys.modules['pandas'] = None; import orrery"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")},
            capture_output=True,
            text=True,
        )
        line = done.stderr.strip().splitlines()[-1]
        self.assertEqual(line, "ImportError: orrery needs numpy and pandas; pandas is missing")


class SizingTest(unittest.TestCase):
    def test_sizes_are_those_of_typescript(self) -> None:
        """The rows of ``test/strategy/sizing.test.ts``."""
        size, target, kelly = orrery.fixed_fraction, orrery.volatility_target, orrery.kelly
        rows = [
            (size(10_000, 0.01, 50_000, stop=49_800), 0.5),
            (size(10_000, 0.2, 500), 4),
            (size(10_000, 0.01, 100, stop=99.99, max_leverage=3), 300),
            (size(-5, 0.01, 100), 0),
            (target(10_000, 0.2, 0.4, 100), 50),
            (target(10_000, 0.8, 0.4, 100), 100),
            (target(10_000, 0.8, 0.4, 100, max_leverage=2), 200),
            (target(10_000, 0.1, 0, 100), 100),
            (target(10_000, 0, 0, 100), 0),
            (kelly(win_rate=0.6, payoff=1), 0.1),
            (kelly(win_rate=0.9, payoff=2, share=1), 0.25),
            (kelly(win_rate=0.4, payoff=1), 0),
            (kelly(mean=0.001, variance=0.01, share=1), 0.1),
        ]
        for i, (found, expected) in enumerate(rows):
            self.assertAlmostEqual(found, expected, 12, str(i))
        wrong = [
            ("price 0", lambda: size(1, 0.1, 0)),
            ("the stop is at the price", lambda: size(1, 0.1, 5, stop=5)),
            ("fraction nan", lambda: size(1, math.nan, 5)),
            ("max_leverage -1", lambda: size(1, 1, 5, max_leverage=-1)),
            ("equity inf", lambda: target(math.inf, 1, 1, 1)),
            ("win_rate 2", lambda: kelly(win_rate=2, payoff=1)),
            ("variance 0", lambda: kelly(mean=1, variance=0)),
            ("needs win_rate", lambda: kelly(mean=1)),
        ]
        for message, call in wrong:
            with self.assertRaisesRegex(ValueError, message):
                call()


class EnvironmentTest(unittest.TestCase):
    """The checks of gymnasium's ``check_env`` and PettingZoo's ``parallel_api_test``."""

    def setUp(self) -> None:
        self.environment = orrery.Environment(
            data=DATA, to=TO, step=0.5, max_position=0.05, max_steps=1000
        )
        self.addCleanup(self.environment.close)

    def play(self, seed: int, actions_seed: int = 7):
        random = np.random.default_rng(actions_seed)
        rows = [self.environment.reset(seed=seed)[0]]
        rewards = []
        while True:
            action = random.uniform(-1, 1, 1)
            observation, reward, terminated, truncated, info = self.environment.step(action)
            rows.append(observation)
            rewards.append(reward)
            if terminated or truncated:
                return np.array(rows), np.array(rewards), info

    def test_equal_seeds_give_equal_trajectories(self) -> None:
        first, second, other = self.play(1), self.play(1), self.play(1, 8)
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        self.assertEqual(first[2]["trajectory"], second[2]["trajectory"])
        self.assertNotEqual(first[2]["trajectory"], other[2]["trajectory"])
        # Rewards are the change of equity, and positions follow the actions.
        equity = first[0][:, OBSERVATION.index("equity")]
        self.assertAlmostEqual(equity[-1] - equity[0], first[1].sum(), places=6)
        self.assertGreater(np.abs(first[0][:, OBSERVATION.index("position")]).max(), 0.01)

    def test_the_interface_of_gymnasium(self) -> None:
        environment = self.environment
        self.assertIs(environment.unwrapped, environment)
        observation, info = environment.reset(seed=123)
        self.assertIsInstance(info, dict)
        self.assertIn(observation, environment.observation_space)
        self.assertEqual(observation.dtype, environment.observation_space.dtype)
        # The generator is that of the seed, and numbers without a seed follow from it.
        states = [environment._np_random.bit_generator.state]
        follows, _ = environment.reset()
        again, _ = environment.reset(seed=123)
        np.testing.assert_array_equal(observation, again)
        states.append(environment._np_random.bit_generator.state)
        self.assertEqual(states[0], states[1])
        self.assertEqual(environment.np_random_seed, 123)
        np.testing.assert_array_equal(environment.reset(options={})[0], follows)
        environment.reset(seed=456)
        self.assertNotEqual(environment._np_random.bit_generator.state, states[0])
        self.assertIs(environment.np_random, environment._np_random)
        environment.action_space.seed(3)
        action = environment.action_space.sample()
        self.assertIn(action, environment.action_space)
        result = environment.step(action)
        self.assertEqual(len(result), 5)
        self.assertIn(result[0], environment.observation_space)
        self.assertIsInstance(result[1], float)
        self.assertIsInstance(result[2], bool)
        self.assertIsInstance(result[3], bool)
        self.assertIsInstance(result[4], dict)
        with self.assertRaises(ValueError):
            environment.step(np.array([1.5]))
        with self.assertRaises(ValueError):
            environment.step(np.array([np.nan]))
        with self.assertRaisesRegex(ValueError, "one number"):
            environment.step(np.array([0.5, 0.5]))
        for limit in (0, -1, 1.5):
            with self.assertRaisesRegex(ValueError, "max_steps"):
                orrery.Environment(data=DATA, max_steps=limit)
        if _gymnasium is not None:
            from gymnasium.utils.env_checker import check_env

            check_env(environment, skip_render_check=True)

    def test_an_episode_that_is_over_needs_a_reset(self) -> None:
        self.play(1)
        with self.assertRaisesRegex(orrery.OrreryError, "call reset"):
            self.environment.step(np.zeros(1))
        self.environment.close()
        self.environment.close()
        with orrery.Environment(data=DATA, to=TO) as environment:
            with self.assertRaisesRegex(orrery.OrreryError, "call reset"):
                environment.step(np.zeros(1))
            environment.reset(seed=1)
            self.assertIsNone(environment.render())
        with self.assertRaisesRegex(orrery.OrreryError, "call reset"):
            environment.step(np.zeros(1))

    def test_a_process_ends_with_its_environment(self) -> None:
        environment = orrery.Environment(data=DATA, step=1)
        environment.reset(seed=1)
        first = environment._episodes._bridge._process.pid
        os.killpg(first, signal.SIGKILL)
        with self.assertRaisesRegex(orrery.OrreryError, "was ended by signal SIGKILL"):
            environment.step([0.1])
        with self.assertRaisesRegex(orrery.OrreryError, "call reset"):
            environment.step([0.1])
        environment.reset(seed=1)
        second = environment._episodes._bridge._process.pid
        self.assertEqual(len(members(second)), 1)
        del environment
        gc.collect()
        self.assertEqual(members(second), [])

    def test_several_agents_have_the_parallel_interface(self) -> None:
        environment = orrery.ParallelEnvironment(
            ["a", "b"], data=DATA, to=TO, step=2, max_position=0.05
        )
        self.addCleanup(environment.close)
        hashes = []
        for _ in range(2):
            observations, infos = environment.reset(seed=42)
            self.assertEqual(set(observations), {"a", "b"})
            self.assertEqual(set(infos), {"a", "b"})
            self.assertEqual(environment.agents, environment.possible_agents)
            while environment.agents:
                actions = {name: np.array([0.5 if name == "a" else -0.5]) for name in "ab"}
                parts = environment.step(actions)
                for part in parts:
                    self.assertEqual(set(part), {"a", "b"})
            hashes.append(parts[4]["a"]["trajectory"])
        self.assertEqual(hashes[0], hashes[1])
        for name in "ab":
            for space in (environment.observation_space, environment.action_space):
                self.assertIs(space(name), space(name))
            self.assertIn(parts[0][name], environment.observation_space(name))
        with self.assertRaisesRegex(orrery.OrreryError, "call reset"):
            environment.step(actions)
        environment.reset(seed=1, options={"options": 1})
        with self.assertRaisesRegex(ValueError, "no action of agent b"):
            environment.step({"a": np.zeros(1)})
        if _pettingzoo is not None:
            from pettingzoo.test import parallel_api_test

            parallel_api_test(environment, num_cycles=10)

    def test_options_have_names_of_python(self) -> None:
        times = []
        for options in ({}, {"warm_up": "30s"}, {"from_": "2024-08-08T23:55:20Z"}):
            with orrery.Environment(data=DATA, step=1, **options) as environment:
                times.append(environment.reset(seed=1)[1]["time_us"] / 1e6)
        self.assertAlmostEqual(times[1] - times[0], 30, delta=1.5)
        self.assertAlmostEqual(times[2] - 1723161320, 0, delta=1.5)

    def test_a_fault_of_the_options_is_named(self) -> None:
        environment = orrery.Environment(data=DATA, feez="0,0")
        self.addCleanup(environment.close)
        with self.assertRaisesRegex(orrery.OrreryError, "'feez' is not known|feez"):
            environment.reset(seed=1)


class Buyer(orrery.Strategy):
    name = "buyer"
    bars = (1.0,)
    keeps_equity = True

    def __init__(self) -> None:
        self.replies = []
        self.fills = []

    def on_bar(self, bar, context) -> None:
        context.plot("close", bar["close"])
        if len(context.history()) == 3:
            self.equity = context.equity
            context.submit("buy", context.size(0.0123), tag="third bar")
            context.submit("sell", context.size(0.0123), tag="long " * 20)

    def on_reply(self, ticket, value, error, context) -> None:
        self.replies.append((ticket, error is None))

    def on_fill(self, fill, context) -> None:
        self.fills.append(fill)
        context.log(f"filled {fill['quantity']}")


class StrategyTest(Folder):
    def test_a_strategy_in_python_trades(self) -> None:
        buyer = Buyer()
        result = orrery.run_strategy(buyer, data=DATA, to=TO, out=self.path("run"))
        self.assertEqual(buyer.equity, 10_000)
        self.assertEqual(sorted(buyer.replies), [(1, True), (2, False)])
        self.assertEqual(set(result.fills["tag"]), {"third bar"})
        self.assertEqual(len(result.fills), len(buyer.fills))
        self.assertAlmostEqual(result.fills["size"].sum(), 0.012)
        self.assertGreater(len(result.plots), 30)
        self.assertEqual(set(result.log["text"]), {f"filled {f['quantity']}" for f in buyer.fills})
        again = orrery.run_strategy(Buyer(), data=DATA, to=TO)
        self.assertEqual(again.info["chainHash"], result.info["chainHash"])

    def test_bars_of_two_lengths_and_the_book_are_read(self) -> None:
        class Reader(orrery.Strategy):
            bars = (1.0, 5.0)
            found: list = []

            def on_book(self, book, context) -> None:
                self.last = book

            def on_bar(self, bar, context) -> None:
                rows = [context.history(3), context.history(3, length=5)]
                self.found.append([{one["interval_us"] for one in some} for some in rows])
                close = bar["close"]
                bar["close"] = rows[0][-1]["close"] = 0
                assert context.history(1)[0]["close"] == close or bar["interval_us"] != 1_000_000
                assert context.book() is self.last

            def on_stop(self, context) -> None:
                context.history(1, length=7)

        reader = Reader()
        with self.assertRaisesRegex(ValueError, r"no bars of 7 s; bars is \(1, 5\)"):
            orrery.run_strategy(reader, data=DATA, to=TO)
        self.assertEqual(reader.found[-1], [{1_000_000}, {5_000_000}])

    def test_faults_of_a_strategy_are_named(self) -> None:
        class Silent(orrery.Strategy):
            bars = (1.0,)

        class Typo(Silent):
            def on_bars(self, bar, context) -> None:
                pass

        class Foreign(Silent):
            def onBar(self, bar, context) -> None:
                pass

        class Async(Silent):
            async def on_bar(self, bar, context) -> None:
                pass

        class Number(Silent):
            bars = 60

        class Text(Silent):
            bars = ("1m",)

        def ordering(*arguments, **order):
            class Ordering(Silent):
                def on_bar(self, bar, context) -> None:
                    context.submit(*arguments, **order)

            return Ordering()

        for strategy, kind, message in (
            (Silent, TypeError, r"Silent is a class; give an object, Silent\(\)"),
            ("cross.ts", TypeError, "'cross.ts' is no orrery.Strategy"),
            (Typo(), orrery.OrreryError, "on_bars is no handler; is on_bar meant?"),
            (Foreign(), orrery.OrreryError, "onBar is no handler; is on_bar meant?"),
            (Async(), TypeError, "on_bar is async; a handler is a plain function"),
            (Number(), TypeError, "bars 60: must be lengths in seconds, such as"),
            (Text(), TypeError, r"bars \('1m',\): must be lengths in seconds, such as"),
            (ordering("byu", 0.01), ValueError, "side 'byu' must be 'buy' or 'sell'"),
            (ordering("buy", "many"), ValueError, "size 'many' must be a number or decimal text"),
            (ordering("buy", float("nan")), ValueError, "size nan must be above 0"),
            (ordering("buy", 0.01, price=float("nan")), ValueError, "price nan: must be a finite"),
            (ordering("buy", 0.01, stop_loss=np.inf), ValueError, "price inf: must be a finite"),
            (ordering("buy", 1e-6), ValueError, "size 1e-06 is below one lot, 0.001"),
            (ordering("buy", 0.01, limit=3), TypeError, "no field 'limit'; fields are price,"),
            (ordering("buy", 0.01, symbol="ETH"), ValueError, "no market ETH .* are BTCUSDT"),
        ):
            with self.assertRaisesRegex(kind, message):
                orrery.run_strategy(strategy, data=DATA, to=TO)
        with self.assertRaisesRegex(orrery.OrreryError, "'fes' is not known; .*warmUp, sample,"):
            orrery.run_strategy(Silent(), data=DATA, fes=1)

    def test_numbers_are_rounded_to_lots_and_ticks(self) -> None:
        class Bidder(orrery.Strategy):
            bars = (1.0,)
            sent = 0

            def on_bar(self, bar, context) -> None:
                self.sent += 1
                if self.sent == 1:
                    context.submit("buy", 0.0123, price=50_000.04, stop_loss=np.float64(40_000.06))
                    context.submit("sell", Decimal("0.0019"), price=Decimal("70000.04"))
                if self.sent == 2:
                    context.submit("buy", 0.01, tag="long " * 20)

        result = orrery.run_strategy(Bidder(), data=DATA, to=TO)
        first = result.orders.iloc[0]
        self.assertEqual((first["size"], first["price"]), (0.012, 50_000))
        self.assertIn(70_000, result.orders["price"][result.orders["size"] == 0.001].tolist())
        # The strategy has no ``on_reply``.
        self.assertRegex(result.log["text"][0], "^ticket 3: refused, .*80")

    def test_a_run_of_python_is_exported_and_reported(self) -> None:
        result = orrery.run_strategy(Buyer(), data=DATA, to=TO, out=self.path("run"))
        for form in ("csv", "parquet", "arrow"):
            made = orrery.command.run(["export", self.path("run"), f"--format={form}"])
            self.assertGreater(len(made["files"]), 0)
        made = orrery.command.run(["export", self.path("run"), "--format=npz"])
        exported = orrery.runs.frames(made["files"][0])
        for name in orrery.runs.TABLES:
            pd.testing.assert_frame_equal(exported[name], result.tables[name])
        subprocess.run([*program(), "report", self.path("run")], check=True, capture_output=True)

    def test_tables_without_a_folder_last_as_long_as_the_result(self) -> None:
        result = orrery.run_strategy(Buyer(), data=pathlib.Path(DATA), to=TO)
        self.assertGreater(len(result.fills), 0)
        self.assertEqual(result.summary["pnl"], result.info["summary"]["pnl"])
        folder = result.folder
        self.assertTrue(os.path.exists(folder))
        del result
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_data_frames_of_candles_are_traded(self) -> None:
        class Hourly(orrery.Strategy):
            bars = (3600.0,)

            def on_bar(self, bar, context) -> None:
                context.submit("buy" if bar["close"] < 60_000 else "sell", 0.01)

        frame = random_walk(300)
        column = frame.rename(columns=str.lower).rename_axis("timestamp").reset_index()
        first, second = (
            orrery.run_strategy(Hourly(), candles={"BTC-USDT": one}) for one in (frame, column)
        )
        self.assertGreater(len(first.fills), 100)
        self.assertEqual(first.info["chainHash"], second.info["chainHash"])
        data = orrery.write_candles(self.path("mine"), {"BTC-USDT": frame, "ETH-USDT": frame})
        third = orrery.run_strategy(Hourly(), data=data, markets=["BTC-USDT"], to=frame.index[100])
        columns = ["time", "side", "price", "size", "fee", "position"]
        part = first.fills.iloc[: len(third.fills)]
        pd.testing.assert_frame_equal(third.fills[columns], part[columns])
        self.assertGreater(len(third.fills), 50)
        with self.assertRaisesRegex(orrery.OrreryError, "exists"):
            orrery.write_candles(data, {"BTC-USDT": frame})
        orrery.write_candles(data, {"BTC-USDT": frame}, replace=True)
        low, twice = frame.copy(), pd.concat([frame, frame])
        low["High"] = low["Low"] - 1
        for frames, message in (
            ({}, "^write_candles: no market; give data frames by symbol"),
            ({"X": low}, "^orrery: candles of X: line 1: `high` and `low` do not enclose"),
            ({"X": twice}, "^orrery: candles of X: line 301: the bar of"),
        ):
            with self.assertRaisesRegex(orrery.OrreryError, message):
                orrery.write_candles(self.path("wrong"), frames, interval="1h")
        before = orrery.run_strategy(Hourly(), data=data).info["chainHash"]
        with self.assertRaisesRegex(orrery.OrreryError, "^orrery: candles of ETH-USDT: line 1"):
            frames = {"BTC-USDT": frame.iloc[:50], "ETH-USDT": low}
            orrery.write_candles(data, frames, replace=True)
        self.assertEqual(orrery.run_strategy(Hourly(), data=data).info["chainHash"], before)
        holed = frame.copy()
        holed.iloc[7, 3] = np.nan
        for wrong, message in (
            (holed, "candles of X: close of row 7 is nan"),
            (frame.drop(columns=["Low", "Volume"]), "candles of X: no column low, volume"),
            (frame.reset_index(drop=True), "candles of X: no DatetimeIndex"),
        ):
            with self.assertRaisesRegex(orrery.OrreryError, message):
                orrery.run_strategy(Hourly(), candles={"X": wrong})
        environment = orrery.Environment(candles={"BTC-USDT": frame}, step=3600)
        environment.reset(seed=1)
        self.assertIn(environment.step([0.5])[0][7], set(frame["Close"]))
        environment.close()

    def test_an_error_of_the_strategy_reaches_the_caller(self) -> None:
        class Broken(orrery.Strategy):
            def on_trade(self, trade, context) -> None:
                raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            orrery.run_strategy(Broken(), data=DATA, to=TO)

    def test_an_error_keeps_its_cause_and_its_object(self) -> None:
        class Refused(Exception):
            pass

        class Broken(orrery.Strategy):
            def on_trade(self, trade, context) -> None:
                raise Refused({"code": 1}) from ValueError("no route")

        with self.assertRaises(Refused) as caught:
            orrery.run_strategy(Broken(), data=DATA, to=TO)
        self.assertEqual(caught.exception.args, ({"code": 1},))
        self.assertEqual(str(caught.exception.__cause__), "no route")


class MetricsTest(Folder):
    """Figures of a report against numpy, from the exported tables of a run of 120 days."""

    def figures(self, run: orrery.Run) -> Dict[str, float]:
        equity = run.equity["equity"].to_numpy()
        times = run.equity["time"]
        ends = run.equity.set_index("time")["equity"].resample("24h", closed="right").last()
        levels = np.concatenate([equity[:1], ends.to_numpy()])
        returns = np.diff(levels) / levels[:-1]
        year = np.sqrt(365)
        below = np.sqrt(np.mean(np.minimum(returns, 0) ** 2))
        drawdowns = 1 - equity / np.maximum.accumulate(equity)
        years = (times.iloc[-1] - times.iloc[0]) / pd.Timedelta(days=365)
        cagr = (equity[-1] / equity[0]) ** (1 / years) - 1
        low, high = np.quantile(returns, [0.05, 0.95])
        pnl = run.trades["pnl"].to_numpy()
        centred = returns - returns.mean()
        spread = np.sqrt(np.mean(centred**2))
        return {
            "periods": len(returns),
            "totalReturn": equity[-1] / equity[0] - 1,
            "cagr": cagr,
            "volatility": returns.std(ddof=1) * year,
            "sharpe": returns.mean() / returns.std(ddof=1) * year,
            "sortino": returns.mean() / below * year,
            "calmar": cagr / drawdowns.max(),
            "omega": returns[returns > 0].sum() / -returns[returns < 0].sum(),
            "maxDrawdown": drawdowns.max(),
            "skewness": np.mean(centred**3) / spread**3,
            "kurtosis": np.mean(centred**4) / spread**4 - 3,
            "valueAtRisk": -low,
            "tailRatio": high / -low,
            "bestPeriod": returns.max(),
            "worstPeriod": returns.min(),
            "winRate": np.mean(pnl > 0),
            "profitFactor": pnl[pnl > 0].sum() / -pnl[pnl < 0].sum(),
            "expectancy": pnl.mean(),
            "sqn": np.sqrt(len(pnl)) * pnl.mean() / pnl.std(ddof=1),
        }

    def test_figures_are_those_of_numpy(self) -> None:
        for line in (
            "data sample --out sample --days 120",
            "new strategy cross --template sma --data sample",
            "backtest cross.ts --data sample --out run --no-check",
        ):
            made = [*program(), *line.split()]
            subprocess.run(made, check=True, capture_output=True, cwd=self.folder)
        run = orrery.open_run(self.path("run"))
        metrics = {**run.metrics, **run.metrics["trades"]}
        self.assertEqual(len(run.trades), metrics["trades"])
        figures = self.figures(run)
        for name, value in figures.items():
            np.testing.assert_allclose(metrics[name], value, rtol=1e-9, err_msg=name)
        # A planted fault: with a last sample that is a millionth higher, figures differ.
        run.tables["equity"].loc[len(run.equity) - 1, "equity"] *= 1 + 1e-6
        faulty = self.figures(run)
        differ = [n for n in figures if not np.isclose(faulty[n], figures[n], rtol=1e-9, atol=0)]
        self.assertIn("sharpe", differ)


class NotebookTest(Folder):
    def test_the_cells_of_the_notebook_run(self) -> None:
        with open(os.path.join(ROOT, "examples/python/run.ipynb"), encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        code = code.replace('"examples/', f'"{ROOT}/examples/').replace('"data/', f'"{ROOT}/data/')
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        found: dict = {}
        exec(compile(code, "run.ipynb", "exec"), found)
        self.assertEqual(len(found["info"]["trajectory"]), 64)
        self.assertGreater(len(found["fills"]), 0)


class GuideTest(Folder):
    def test_the_blocks_of_the_guide_run(self) -> None:
        with open(os.path.join(ROOT, "docs/PYTHON.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(blocks), 4)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        for name in ("examples", "data"):
            os.symlink(os.path.join(ROOT, name), self.path(name))
        for block in blocks:
            exec(compile(block, "PYTHON.md", "exec"), {})


    def test_updates_have_the_keys_of_the_guide(self) -> None:
        with open(os.path.join(ROOT, "docs/PYTHON.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| (`on_.*?) +\| (.*?) *\|$", file.read(), re.M)
        documented = {}
        for names, keys in rows:
            plain = re.sub(r" \(.*?\)|;.*", "", keys)
            documented.update({name.strip("` "): plain.split(", ") for name in names.split(",")})
        found: dict = {}

        class Reader(orrery.Strategy):
            bars = (1.0,)
            is_first = True

            def on_bar(self, bar, context) -> None:
                if self.is_first:
                    context.submit("buy", 0.01)
                self.is_first = False

        def keeper(name):
            def keep(self, update, context) -> None:
                found[name] = list(update)
                if name == "on_bar":
                    Reader.on_bar(self, update, context)

            return keep

        names = [name for name in documented if name not in ("on_start", "on_stop", "on_timer")]
        reader = type("Reader", (Reader,), {name: keeper(name) for name in names})
        with open(self.path("mood.csv"), "w") as file:
            file.write("knownAt,longShort\n2024-08-08T23:54:30Z,1.5\n")
        feeds = [{"file": self.path("mood.csv"), "available": "knownAt"}]
        orrery.run_strategy(reader(), data=DATA, feeds=feeds)
        # The recording has no funding rates, so it pays no funding; the sample has.
        made = [*program(), "data", "sample", "--days", "1", "--out", self.path("sample")]
        subprocess.run(made, check=True, capture_output=True)
        self.assertNotIn("on_funding", found)
        orrery.run_strategy(type("Paid", (reader,), {"bars": (60.0,)})(), data=self.path("sample"))
        self.assertEqual(set(names) - set(found), {"on_liquidation"})
        for name, keys in found.items():
            self.assertEqual(documented[name], keys, name)


class ExamplesTest(Folder):
    """The four templates of ``orrery new strategy``, written in Python."""

    def example(self, name: str):
        path = os.path.join(ROOT, "examples/python", f"{name}.py")
        found: dict = {"__name__": name}
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), found)
        return found["main"]

    def run_program(self, *arguments: str) -> None:
        made = [*program(), *arguments]
        subprocess.run(made, check=True, capture_output=True, cwd=self.folder)

    def test_on_bars(self) -> None:
        self.run_program("data", "sample", "--out", "sample", "--days", "30")
        data = self.path("sample")
        for name in ("carry", "pairs"):
            info = self.example(name)(data).info
            self.assertGreater(info["summary"]["fills"], 0, name)
            self.assertEqual(info["summary"]["refusedRequests"], 0, name)
        # The same decisions in both languages give the same fills.
        self.run_program("new", "strategy", "cross", "--template", "sma", "--data", data)
        self.run_program("backtest", "cross.ts", "--data", data, "--out", "typescript")
        theirs = orrery.open_run(self.path("typescript")).fills
        ours = self.example("cross")(data, out=self.path("python")).fills
        self.assertGreater(len(ours), 5)
        columns = ["time", "side", "price", "size", "fee", "position"]
        pd.testing.assert_frame_equal(ours[columns], theirs[columns])

    def test_on_a_recording(self) -> None:
        summary = self.example("maker")(DATA).info["summary"]
        self.assertGreater(summary["fills"], 50)
        self.assertEqual(summary["fills"], summary["makerFills"])


ECHO = "require('readline').createInterface({input:process.stdin}).on('line',l=>console.log(l))"


class SpeedTest(Folder):
    #: Seconds of the steps of an episode, by their number.
    clock: Dict[int, float] = {}

    def test_a_step_costs_little_more_than_its_messages(self) -> None:
        """Steps against bare messages of the same pipe, by processor time of both processes.

        Two lengths are compared, so that the start is not counted.
        """
        made = [*program(), "data", "sample", "--out", self.path("bars")]
        subprocess.run(made, check=True, capture_output=True)
        ratios = []
        for _ in range(2):
            steps, bare = (
                10_000 / (cost(12_000) - cost(2_000)) for cost in (self.seconds, self.bare)
            )
            ratios.append(steps / bare)
            clock = 10_000 / (self.clock[12_000] - self.clock[2_000])
            figures = f"{steps:,.0f} steps and {bare:,.0f} bare messages"
            print(
                f"\n{figures} a second of processor time; {clock:,.0f} steps by the clock",
                file=sys.stderr,
            )
        # 0.14 to 0.33 on machines with and without other work; a second message a step, or a
        # table made at each step, costs far more.
        self.assertGreater(max(ratios), 0.05)

    def bare(self, count: int) -> float:
        """The processor time of messages that Node returns as they are."""
        before = used()
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(["node", "-e", ECHO], **pipe) as process:
            for i in range(count):
                process.stdin.write(json.dumps({"action": [i % 40], "type": "step"}).encode())
                process.stdin.write(b"\n")
                process.stdin.flush()
                json.loads(process.stdout.readline())
        return used() - before

    def seconds(self, count: int) -> float:
        before = used()
        environment = orrery.Environment(
            data=self.path("bars"), markets=["BTC-SAMPLE"], step=60, max_position=0.01
        )
        environment.reset(seed=1)
        start = time.perf_counter()
        for i in range(count):
            environment.step(np.array([0.5 if i % 40 < 20 else -0.5]))
        self.clock[count] = time.perf_counter() - start
        environment.close()
        return used() - before


def used() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


if __name__ == "__main__":
    unittest.main()
