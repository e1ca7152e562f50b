"""Reference values for test/metrics/further.test.ts, by numpy, scipy and pandas; written to further.json.

python3 test/metrics/reference/further.py

The figures are computed from the definitions of docs/METRICS.md by other means than the program's:
least squares for alpha, beta and the stability, pandas for correlations, runs and drawdowns.
"""
import json
import math
import os

import numpy as np
import pandas as pd
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(1952)

market = 30_000 * np.cumprod(1 + 0.0004 + 0.02 * rng.standard_t(5, 400))
own_returns = 0.0005 + 0.4 * np.diff(np.log(np.concatenate([[30_000.0], market]))) + 0.008 * rng.standard_normal(400)
own_returns[[10, 11, 200]] = 0.0
own = 10_000 * np.cumprod(1 + own_returns)
market = np.concatenate([[30_000.0], market]).round(4)
own = np.concatenate([[10_000.0], own]).round(6)
START = pd.Timestamp("2022-01-01", tz="UTC")


def streak(holds):
    blocks = holds.ne(holds.shift()).cumsum()
    return int(holds.groupby(blocks).sum().max())


def geometric(returns):
    return float(stats.gmean(1 + returns) - 1)


def further(values, per_year, rf=0.0, target=0.0):
    equity = pd.Series(values, index=pd.date_range(START, periods=len(values), freq="D"))
    r = equity.pct_change().dropna()
    n = len(r)
    free, goal = (1 + rf) ** (1 / per_year) - 1, (1 + target) ** (1 / per_year) - 1
    rho = abs(r.autocorr(1))
    penalty = math.sqrt(1 + 2 * sum((1 - k / n) * rho**k for k in range(1, n)))
    up, down = r[r > 0], r[r < 0]
    factor = up.sum() / -down.sum()
    wins = len(up) / (len(up) + len(down))
    payoff = up.mean() / -down.mean()
    under = equity / equity.cummax() - 1
    falling = under < 0
    spells = falling.ne(falling.shift()).cumsum()[falling]
    depths = -under[falling].groupby(spells).min()
    days = []
    for _, rows in under[falling].groupby(spells):
        before = equity.index.get_loc(rows.index[0]) - 1
        after = min(equity.index.get_loc(rows.index[-1]) + 1, len(equity) - 1)
        days.append((equity.index[after] - equity.index[before]) / pd.Timedelta("1us"))
    total = equity.iloc[-1] / equity.iloc[0] - 1
    shortfall = np.clip(r - goal, None, 0)
    fit = stats.linregress(np.arange(n), np.log1p(r).cumsum())
    return {
        "downsideRisk": float(np.sqrt((shortfall**2).mean()) * math.sqrt(per_year)),
        "smartSharpe": float((r.mean() - free) / r.std() / penalty * math.sqrt(per_year)),
        "smartSortino": float((r.mean() - goal) / np.sqrt((shortfall**2).mean()) / penalty * math.sqrt(per_year)),
        "autocorrelation": float(r.autocorr(1)),
        "stability": float(fit.rvalue**2),
        "meanReturn": geometric(r),
        "gainToPain": float(r.sum() / -down.sum()),
        "payoffOfPeriods": float(payoff),
        "commonSense": float(factor * abs(r.quantile(0.95)) / abs(r.quantile(0.05))),
        "cpcIndex": float(factor * wins * payoff),
        "recoveryFactor": float(total / -under.min()),
        "ulcerPerformance": float(total / np.sqrt((under**2).mean())),
        "meanDrawdown": float(depths.mean()),
        "meanDrawdownUs": float(np.mean(days)),
        "riskOfRuin": float(((1 - wins) / (1 + wins)) ** n),
        "outlierGain": float(r.quantile(0.99) / up.mean()),
        "outlierLoss": float(r.quantile(0.01) / down.mean()),
        "gainsInARow": streak(r > 0),
        "lossesInARow": streak(r < 0),
    }


def relative(values, beside, per_year, rf=0.0):
    r = pd.Series(values).pct_change().dropna()
    b = pd.Series(beside).pct_change().dropna()
    free = (1 + rf) ** (1 / per_year) - 1
    slope, constant = np.linalg.lstsq(np.column_stack([b - free, np.ones(len(b))]), r - free, rcond=None)[0]
    active = r - b
    return {
        "periods": len(r),
        "alpha": float(constant * per_year),
        "beta": float(slope),
        "correlation": float(r.corr(b)),
        "rSquared": float(stats.linregress(b, r).rvalue ** 2),
        "informationRatio": float(active.mean() / active.std() * math.sqrt(per_year)),
        "trackingError": float(active.std() * math.sqrt(per_year)),
        "treynor": float((r.mean() - free) * per_year / slope),
        "upCapture": geometric(r[b > 0]) / geometric(b[b > 0]),
        "downCapture": geometric(r[b < 0]) / geometric(b[b < 0]),
        "battingAverage": float((active > 0).mean()),
    }


reference = {
    "own": own.tolist(),
    "market": market.tolist(),
    "further": {"plain": further(own, 365), "rates": further(own, 252, rf=0.03, target=0.05)},
    "relative": {"plain": relative(own, market, 365), "rates": relative(own, market, 252, rf=0.03)},
}
with open(os.path.join(HERE, "further.json"), "w") as file:
    json.dump(reference, file, indent=1)
    file.write("\n")
