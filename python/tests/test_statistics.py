"""Every figure of a report, recomputed with numpy and pandas from the exported tables.

The runs are one that loses over a year boundary, one with a single trade, one without any, and one
whose last position stays open.
"""

import math
import statistics
import unittest
from typing import Any, Dict, Optional

import test_orrery as base
from test_orrery import np, orrery, pd

YEAR = 365
DAY = pd.Timedelta(days=1)
FEES = {"maker": "0.0001", "taker": "0.001"}


class Scheduled(orrery.Strategy):
    """Takes a position of some lots after some bars: ``{bar: position}``."""

    bars = (3600.0,)
    name = "scheduled"

    def __init__(self, targets: Dict[int, float]) -> None:
        self.targets = targets
        self.count = 0
        self.position = 0.0

    def on_bar(self, bar, context) -> None:
        self.count += 1
        target = self.targets.get(self.count, self.position)
        change = round(target - self.position, 3)
        if change != 0:
            context.submit("buy" if change > 0 else "sell", abs(change), tag="planned")
        self.position = target


def schedule(seed: int, step: int, end: Optional[int]) -> Dict[int, float]:
    """Positions of changing size and side every ``step`` bars, flat between them."""
    random = np.random.default_rng(seed)
    targets = {}
    for at in range(30, 1_800, step):
        targets[at] = round(float(random.choice([-1, 1]) * random.uniform(0.02, 0.12)), 3)
        targets[at + step // 2] = 0.0
    if end is not None:
        targets[end] = 0.0
    return targets


def frame() -> pd.DataFrame:
    """80 days by the hour, over New Year, from five in the morning."""
    random = np.random.default_rng(3)
    close = (40_000 * np.exp(np.cumsum(random.normal(0.0001, 0.004, 1_920)))).round(1)
    columns = {"open": close, "high": close + 40, "low": close - 40, "close": close}
    index = pd.date_range("2023-11-20T05:00", periods=1_920, freq="h", tz="UTC")
    return pd.DataFrame({**columns, "volume": 10.001}, index=index)


def curve_of(table: pd.DataFrame, column: str) -> pd.Series:
    return table.groupby("time")[column].last()


def daily(curve: pd.Series) -> pd.Series:
    """The first row, then the last row of each day; the end of a day belongs to it."""
    ends = curve.resample("D", closed="right", label="right").last().ffill()
    first = pd.Series([curve.iloc[0]], index=[curve.index[0]])
    return pd.concat([first, ends[ends.index > curve.index[0]]])


def or_none(value: Any) -> Optional[float]:
    number = float(value)
    return number if math.isfinite(number) else None


def divided(value: float, by: float) -> float:
    return value / by if by > 0 else math.nan


def micros(length: Any) -> Any:
    return length / pd.Timedelta(microseconds=1)


def episodes(curve: pd.Series) -> pd.DataFrame:
    """Drawdowns, by the running high that they fall from."""
    high = curve.cummax()
    below = curve < high
    rows = []
    for _, part in curve.groupby((~below).cumsum()):
        if len(part) > 1:
            after = curve.index[curve.index > part.index[-1]]
            end = after[0] if len(after) > 0 else part.index[-1]
            rows.append({"depth": 1 - part.min() / part.iloc[0], "us": micros(end - part.index[0])})
    return pd.DataFrame(rows, columns=["depth", "us"])


def return_figures(curve: pd.Series) -> Dict[str, Any]:
    """As empyrical and QuantStats define them, a year being 365 days."""
    returns = daily(curve).pct_change().iloc[1:]
    n, mean, spread = len(returns), returns.mean(), returns.std(ddof=1)
    isFlat = not spread > 1e-15
    sharpe = math.nan if isFlat else mean / spread
    below = math.sqrt((returns.clip(upper=0) ** 2).mean())
    drawdown = 1 - curve / curve.cummax()
    falls = episodes(curve)
    years = (curve.index[-1] - curve.index[0]) / (YEAR * DAY)
    growth = curve.iloc[-1] / curve.iloc[0]
    cagr = growth ** (1 / years) - 1
    centred = (returns - mean).to_numpy()
    moment = [np.mean(centred**k) for k in range(5)]
    skew = math.nan if isFlat else moment[3] / moment[2] ** 1.5
    kurtosis = math.nan if isFlat else moment[4] / moment[2] ** 2
    error = math.sqrt((1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe**2) / (n - 1))
    low, high = returns.quantile(0.05), returns.quantile(0.95)
    return {
        "startUs": curve.index[0].value // 1000,
        "endUs": curve.index[-1].value // 1000,
        "periods": n,
        "periodsPerYear": YEAR,
        "startEquity": curve.iloc[0],
        "endEquity": curve.iloc[-1],
        "peakEquity": curve.max(),
        "totalReturn": growth - 1,
        "cagr": cagr,
        "volatility": spread * math.sqrt(YEAR),
        "sharpe": sharpe * math.sqrt(YEAR),
        "probabilisticSharpe": math.nan
        if isFlat
        else statistics.NormalDist().cdf(sharpe / error),
        "deflatedSharpe": math.nan,
        "sortino": divided(mean, below) * math.sqrt(YEAR),
        "calmar": divided(cagr, drawdown.max()),
        "omega": divided(returns.clip(lower=0).sum(), -returns.clip(upper=0).sum()),
        "maxDrawdown": drawdown.max(),
        "maxDrawdownUs": falls["us"].max() if len(falls) else 0,
        "ulcerIndex": math.sqrt((drawdown**2).mean()),
        "valueAtRisk": -low,
        "conditionalValueAtRisk": -returns[returns <= low].mean(),
        "skewness": skew,
        "kurtosis": kurtosis - 3,
        "tailRatio": divided(abs(high), abs(low)),
        "bestPeriod": returns.max(),
        "worstPeriod": returns.min(),
        "positivePeriods": (returns > 0).mean(),
        "kellyContinuous": math.nan if isFlat else mean / spread**2,
    }


def further_figures(curve: pd.Series) -> Dict[str, Any]:
    returns = daily(curve).pct_change().iloc[1:]
    figures = return_figures(curve)
    gains, losses = returns[returns > 0], returns[returns < 0]
    n = len(returns)
    isFlat = returns.nunique() < 2
    rho = math.nan if isFlat else np.corrcoef(returns[1:], returns[:-1])[0, 1]
    penalty = math.sqrt(1 + 2 * sum((n - k) / n * abs(rho) ** k for k in range(1, n)))
    growth = np.log1p(returns.to_numpy()).cumsum()
    line = np.polyfit(np.arange(n), growth, 1)
    residual = ((growth - np.polyval(line, np.arange(n))) ** 2).sum()
    total = ((growth - growth.mean()) ** 2).sum()
    factor = divided(gains.sum(), -losses.sum())
    payoff = gains.mean() / -losses.mean() if len(gains) and len(losses) else math.nan
    share = divided(len(gains), len(gains) + len(losses))
    falls = episodes(curve)
    whole = figures["totalReturn"]
    return {
        "downsideRisk": math.sqrt((returns.clip(upper=0) ** 2).mean() * YEAR),
        "smartSharpe": figures["sharpe"] / penalty,
        "smartSortino": figures["sortino"] / penalty,
        "autocorrelation": rho,
        "stability": 1 - residual / total if total > 0 else math.nan,
        "meanReturn": (1 + returns).prod() ** (1 / n) - 1,
        "gainToPain": divided(returns.sum(), -losses.sum()),
        "payoffOfPeriods": payoff,
        "commonSense": factor * figures["tailRatio"],
        "cpcIndex": factor * share * payoff,
        "recoveryFactor": divided(whole, figures["maxDrawdown"]),
        "ulcerPerformance": divided(whole, figures["ulcerIndex"]),
        "meanDrawdown": falls["depth"].mean(),
        "meanDrawdownUs": falls["us"].mean(),
        "riskOfRuin": ((1 - share) / (1 + share)) ** n,
        "outlierGain": returns.quantile(0.99) / gains.mean(),
        "outlierLoss": returns.quantile(0.01) / losses.mean(),
        "gainsInARow": streak(returns > 0),
        "lossesInARow": streak(returns < 0),
    }


def streak(holds: pd.Series) -> int:
    return int(holds.groupby((~holds).cumsum()).sum().max()) if len(holds) else 0


def relative_figures(curve: pd.Series, market: pd.Series) -> Dict[str, Any]:
    """Alpha and beta by least squares."""
    own = daily(curve).pct_change().iloc[1:].to_numpy()
    other = daily(market).pct_change().iloc[1:].to_numpy()
    design = np.column_stack([other, np.ones(len(other))])
    (beta, alpha), *_ = np.linalg.lstsq(design, own, rcond=None)
    active = own - other
    isFlat = np.ptp(own) == 0
    r = math.nan if isFlat else np.corrcoef(own, other)[0, 1]

    def capture(chosen: np.ndarray) -> float:
        def mean(values: np.ndarray) -> float:
            return math.exp(np.log1p(values[chosen]).mean()) - 1

        return mean(own) / mean(other)

    return {
        "periods": len(own),
        "alpha": 0.0 if isFlat else alpha * YEAR,
        "beta": 0.0 if isFlat else beta,
        "correlation": r,
        "rSquared": r**2,
        "informationRatio": active.mean() / active.std(ddof=1) * math.sqrt(YEAR),
        "trackingError": active.std(ddof=1) * math.sqrt(YEAR),
        "treynor": math.nan if isFlat else own.mean() * YEAR / beta,
        "upCapture": capture(other > 0),
        "downCapture": capture(other < 0),
        "battingAverage": (active > 0).mean(),
    }


def rolling_figures(curve: pd.Series, market: pd.Series) -> pd.DataFrame:
    """Of the last 30 days or a fifth of the run, by pandas; beta by least squares."""
    own, other = (daily(of).pct_change().iloc[1:] for of in (curve, market))
    window = min(30, len(own) // 5)
    rows = []
    for end in range(window, len(own) + 1):
        last, beside = own.iloc[end - window : end], other.iloc[end - window : end]
        below = math.sqrt((last.clip(upper=0) ** 2).mean())
        spread = last.std(ddof=1)
        isFlat = np.ptp(last) == 0
        rows.append(
            {
                # The last day ends with the run.
                "timeUs": min(last.index[-1], curve.index[-1]).value // 1000,
                "sharpe": math.nan if isFlat else last.mean() / spread * math.sqrt(YEAR),
                "volatility": spread * math.sqrt(YEAR),
                "sortino": divided(last.mean(), below) * math.sqrt(YEAR),
                "beta": 0.0 if isFlat else np.polyfit(beside, last, 1)[0],
            }
        )
    return pd.DataFrame(rows)


def use_figures(run: orrery.Run, curve: pd.Series) -> Dict[str, Any]:
    """From the fills, not the trades: a position that is open at the end counts."""
    fills = run.fills
    turnover = (fills["price"] * fills["size"]).sum() / curve.mean()
    until = fills["time"].shift(-1, fill_value=curve.index[-1])
    held = (until - fills["time"])[fills["position"] != 0].sum()
    span = curve.index[-1] - curve.index[0]
    return {
        "exposure": held / span if len(fills) else 0,
        "turnover": turnover,
        "turnoverPerYear": turnover / (span / (YEAR * DAY)),
    }


def trade_figures(run: orrery.Run) -> Dict[str, Any]:
    """From the prices of the trades, each of which opens and closes once."""
    trades = run.trades
    sign = np.where(trades["side"] == "long", 1, -1)
    moved = (trades["exit_price"] - trades["entry_price"]) * trades["size"] * sign
    pnl = moved - trades["fees"] + trades["funding"]
    shares = pnl / (trades["entry_price"] * trades["size"])
    held = micros(trades["exit"] - trades["entry"])
    wins, losses = pnl[pnl > 0], pnl[pnl < 0]
    payoff = wins.mean() / -losses.mean()
    rate = (pnl > 0).mean() if len(pnl) else math.nan
    return {
        "trades": len(pnl),
        "wins": len(wins),
        "losses": len(losses),
        "winRate": rate,
        "profitFactor": divided(wins.sum(), -losses.sum()),
        "payoff": payoff,
        "expectancy": pnl.mean(),
        "expectancyRatio": pnl.mean() / -losses.mean(),
        "sqn": math.sqrt(len(pnl)) * pnl.mean() / pnl.std(ddof=1),
        "kelly": rate - (1 - rate) / payoff,
        "bestTrade": pnl.max(),
        "worstTrade": pnl.min(),
        "bestTradeShare": shares.max(),
        "worstTradeShare": shares.min(),
        "meanTradeShare": shares.mean(),
        "meanTradeUs": held.mean(),
        "maxTradeUs": held.max(),
        "maxConsecutiveWins": streak(pnl > 0),
        "maxConsecutiveLosses": streak(pnl < 0),
    }


def calendar_figures(curve: pd.Series, letter: str) -> Optional[Dict[str, Any]]:
    """Of whole days, months and years by pandas; a sample at midnight ends its day."""
    shifted = curve.copy()
    shifted.index = shifted.index - pd.Timedelta(microseconds=1)
    shifted.index = shifted.index.where(np.arange(len(curve)) > 0, curve.index[0])
    ends = shifted.groupby(shifted.index.tz_localize(None).to_period(letter)).last()
    starts = ends.shift(1)
    starts.iloc[0] = curve.iloc[0]
    returns = ends / starts - 1
    if len(returns) < 2:
        return None
    return {
        "count": len(returns),
        "best": returns.max(),
        "worst": returns.min(),
        "mean": returns.mean(),
        "meanGain": returns[returns > 0].mean(),
        "meanLoss": returns[returns < 0].mean(),
        "gaining": (returns > 0).mean(),
    }


class StatisticsTest(base.Folder):
    def setUp(self) -> None:
        super().setUp()
        self.data = orrery.write_candles(self.path("data"), {"BTC-USDT": frame()}, interval="1h")

    def run_of(self, targets: Dict[int, float]) -> orrery.Run:
        return orrery.run_strategy(Scheduled(targets), data=self.data, fees=FEES)

    def compare(self, found: Dict[str, Any], expected: Dict[str, Any], place: str) -> None:
        numbers = {key: value for key, value in found.items() if key not in NO_FIGURES}
        self.assertEqual(sorted(numbers), sorted(expected), place)
        for name, value in expected.items():
            number = or_none(value)
            if number is None or numbers[name] is None:
                self.assertEqual(numbers[name], number, f"{place}: {name}")
                continue
            np.testing.assert_allclose(
                numbers[name], number, rtol=1e-9, atol=1e-13, err_msg=f"{place}: {name}"
            )

    def check(self, run: orrery.Run, place: str) -> Dict[str, Any]:
        [strategy] = run.report["strategies"]
        curve = curve_of(run.equity, "equity")
        mids = curve_of(run.markets, "mid").bfill()
        # Whole lots that the deposit affords with the fee, marked at mid.
        lot, paid = 0.001, 1 + float(FEES["taker"])
        size = math.floor(curve.iloc[0] / (mids.iloc[0] * paid) / lot) * lot
        market = curve.iloc[0] - size * mids.iloc[0] * paid + size * mids
        # Its first point is the deposit.
        market.iloc[0] = curve.iloc[0]
        metrics = strategy["metrics"]
        with np.errstate(all="ignore"):
            expected = {**return_figures(curve), **use_figures(run, curve)}
            own = {key: value for key, value in metrics.items() if key != "trades"}
            self.compare(own, expected, place)
            self.compare(metrics["trades"], trade_figures(run), f"{place}, trades")
            self.compare(strategy["further"], further_figures(curve), f"{place}, further")
            unused = {"exposure": math.nan, "turnover": math.nan, "turnoverPerYear": math.nan}
            self.compare(
                strategy["benchmark"],
                {**return_figures(market), **unused, "trades": math.nan},
                f"{place}, market",
            )
            self.compare(strategy["benchmarkFurther"], further_figures(market), f"{place}, market")
            self.compare(strategy["relative"], relative_figures(curve, market), f"{place}, against")
            rolling = rolling_figures(curve, market)
            self.assertEqual(len(strategy["rolling"]), len(rolling), place)
            for i, point in enumerate(strategy["rolling"]):
                self.compare(point, dict(rolling.iloc[i]), f"{place}, rolling {i}")
            calendar = {row["period"]: row for row in strategy["calendar"]}
            for period, letter in (("day", "D"), ("month", "M"), ("year", "Y")):
                self.compare(calendar[period], calendar_figures(curve, letter), f"{place}, {period}")
        trades = pd.concat([run.trades, run.open_trades])
        # Transfers, of which there are none, are the rest.
        np.testing.assert_allclose(trades["pnl"].sum(), float(run.summary["pnl"]), atol=1e-6)
        return {**metrics, **metrics["trades"]}

    def test_a_losing_run_over_a_year_boundary(self) -> None:
        figures = self.check(self.run_of(schedule(1, 8, 1_850)), "losing")
        self.assertLess(figures["totalReturn"], 0)
        self.assertGreater(figures["trades"], 100)

    def test_a_run_with_a_single_trade(self) -> None:
        figures = self.check(self.run_of({100: 0.1, 900: 0.0}), "single")
        self.assertEqual(figures["trades"], 1)
        self.assertIsNone(figures["sqn"])

    def test_a_run_without_trades(self) -> None:
        figures = self.check(self.run_of({}), "none")
        self.assertEqual((figures["trades"], figures["totalReturn"]), (0, 0))
        self.assertIsNone(figures["sharpe"])

    def test_a_run_whose_position_is_open_at_the_end(self) -> None:
        run = self.run_of({**schedule(2, 400, None), 1_850: 0.1})
        figures = self.check(run, "open")
        self.assertGreater(figures["trades"], 2)
        self.assertEqual(list(run.open_trades["exit_reason"]), ["endOfRun"])
        self.assertEqual(list(run.open_trades["tag"]), ["planned"])
        self.assertEqual(set(run.trades["exit_reason"]), {"order"})
        self.assertEqual(set(run.trades["exit_tag"]), {"planned"})


#: Lists and names, which are no figures.
NO_FIGURES = ("drawdowns", "period")


if __name__ == "__main__":
    unittest.main()
