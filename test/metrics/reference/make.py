"""Reference values for test/metrics/metrics.test.ts, by numpy, scipy and pandas; written to values.json.

python3 test/metrics/reference/make.py
"""
import itertools
import json
import math
import os

import numpy as np
import pandas as pd
import scipy
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20240808)

# Two years of daily equity with fat tails, and an hourly curve of a month.
daily = 10_000 * np.cumprod(1 + 0.0006 + 0.012 * rng.standard_t(4, 730))
daily = np.concatenate([[10_000.0], daily]).round(6)
hourly = np.concatenate([[500.0], 500 * np.cumprod(1 + 0.0001 + 0.003 * rng.standard_normal(720))]).round(6)
pnl = (rng.standard_normal(160) * 40 + 6).round(2)
pnl[[7, 70]] = 0.0
start = pd.Timestamp("2022-01-01", tz="UTC")


def curve(values, step, days, ddof=1, rf=0.0, target=0.0, below=False, log=False, level=0.95):
    equity = pd.Series(values, index=pd.date_range(start, periods=len(values), freq=step))
    returns = equity.pct_change().dropna() if not log else np.log(equity).diff().dropna()
    per_year = days * pd.Timedelta("1D") / pd.Timedelta(step)
    free, goal = (1 + rf) ** (1 / per_year) - 1, (1 + target) ** (1 / per_year) - 1
    sr = (returns.mean() - free) / returns.std(ddof=ddof)
    short = np.minimum(returns - goal, 0)
    downside = math.sqrt((short**2).sum() / ((returns < goal).sum() if below else len(returns)))
    years = (equity.index[-1] - equity.index[0]) / pd.Timedelta("365D")
    cagr = (equity.iloc[-1] / equity.iloc[0]) ** (1 / years) - 1
    under = 1 - equity / equity.cummax()
    g3, g4 = stats.skew(returns), stats.kurtosis(returns, fisher=False)
    psr = stats.norm.cdf(sr * math.sqrt(len(returns) - 1) / math.sqrt(1 - g3 * sr + (g4 - 1) / 4 * sr**2))
    emc = np.euler_gamma
    best = math.sqrt(0.002) * ((1 - emc) * stats.norm.ppf(1 - 1 / 40) + emc * stats.norm.ppf(1 - 1 / (40 * math.e)))
    dsr = stats.norm.cdf((sr - best) * math.sqrt(len(returns) - 1) / math.sqrt(1 - g3 * sr + (g4 - 1) / 4 * sr**2))
    cutoff = np.quantile(returns, 1 - level)
    z, mu, sigma = stats.norm.ppf(1 - level), returns.mean(), returns.std(ddof=ddof)
    high = equity.cummax()
    longest, peak = pd.Timedelta(0), equity.index[0]
    for when, value in equity.items():
        longest = max(longest, when - peak) if value < high[when] or value == high[when] else longest
        if value == high[when]:
            peak = when
    return {
        "totalReturn": equity.iloc[-1] / equity.iloc[0] - 1,
        "cagr": cagr,
        "volatility": sigma * math.sqrt(per_year),
        "sharpe": sr * math.sqrt(per_year),
        "probabilisticSharpe": psr,
        "deflatedSharpe": dsr,
        "sortino": (mu - goal) / downside * math.sqrt(per_year),
        "calmar": cagr / under.max(),
        "omega": np.maximum(returns - goal, 0).sum() / np.maximum(goal - returns, 0).sum(),
        "maxDrawdown": under.max(),
        "maxDrawdownUs": longest.value / 1000,
        "ulcerIndex": math.sqrt((under**2).mean()),
        "valueAtRisk": -cutoff,
        "conditionalValueAtRisk": -returns[returns <= cutoff].mean(),
        "normalValueAtRisk": -stats.norm.ppf(1 - level, mu, sigma),
        "normalConditionalValueAtRisk": -(mu - sigma * stats.norm.pdf(z) / (1 - level)),
        "skewness": g3,
        "sampleSkewness": returns.skew(),
        "kurtosis": g4 - 3,
        "sampleKurtosis": returns.kurt(),
        "tailRatio": abs(np.quantile(returns, level)) / abs(cutoff),
        "bestPeriod": returns.max(),
        "worstPeriod": returns.min(),
        "positivePeriods": (returns > 0).mean(),
        "kellyContinuous": (mu - free) / returns.var(ddof=ddof),
    }


def pbo(matrix, blocks):
    parts = np.split(matrix, blocks)
    logits, outside = [], []
    for chosen in itertools.combinations(range(blocks), blocks // 2):
        inside = np.concatenate([parts[i] for i in chosen])
        other = np.concatenate([parts[i] for i in range(blocks) if i not in chosen])
        ratio = lambda rows: rows.mean(0) / rows.std(0)
        best = ratio(inside).argmax()
        rank = stats.rankdata(ratio(other))[best] / (matrix.shape[1] + 1)
        logits.append(math.log(rank / (1 - rank)))
        outside.append(ratio(other)[best])
    return {"probability": np.mean(np.array(logits) <= 0), "medianLogit": np.median(logits),
            "lossProbability": np.mean(np.array(outside) < 0)}


wins, losses = pnl[pnl > 0], pnl[pnl < 0]
rate, payoff = len(wins) / len(pnl), wins.mean() / -losses.mean()
matrix = 0.01 * rng.standard_normal((160, 12)).round(6)
values = {
    "made by": f"numpy {np.__version__}, scipy {scipy.__version__}, pandas {pd.__version__}",
    "daily": daily.tolist(),
    "hourly": hourly.tolist(),
    "pnl": pnl.tolist(),
    "returnsByTrial": matrix.T.tolist(),
    "curves": {
        "daily": curve(daily, "1D", 365),
        "daily252": curve(daily, "1D", 252, ddof=0, rf=0.04, target=0.02, below=True, level=0.99),
        "dailyLog": curve(daily, "1D", 365, log=True),
        "hourly": curve(hourly, "1H", 365, rf=0.03),
    },
    "trades": {
        "winRate": rate,
        "profitFactor": wins.sum() / -losses.sum(),
        "payoff": payoff,
        "expectancy": pnl.mean(),
        "expectancyRatio": pnl.mean() / -losses.mean(),
        "sqn": math.sqrt(len(pnl)) * pnl.mean() / pnl.std(ddof=1),
        "kelly": rate - (1 - rate) / payoff,
        "bestTrade": pnl.max(),
        "worstTrade": pnl.min(),
    },
    "pbo": pbo(matrix, 8),
}
with open(os.path.join(HERE, "values.json"), "w") as file:
    json.dump(values, file, indent=1)
    file.write("\n")
