"""Reference values for test/metrics/selection.test.ts, by numpy and scipy; written to selection.json.

python3 test/metrics/reference/selection.py

Formulas: Bailey and Lopez de Prado, "The Sharpe Ratio Efficient Frontier" (2012), eq. 11, and "The
Deflated Sharpe Ratio" (2014), eq. 1; Bailey, Borwein, Lopez de Prado and Zhu, "The Probability of
Backtest Overfitting" (2015), section 3. The expected maximum is also integrated, which needs no
approximation: eq. 1 is the paper's approximation of it.
"""
import itertools
import json
import math
import os

import numpy as np
import scipy
from scipy import integrate, stats

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20150827)


def psr(sharpe, benchmark, periods, skewness, kurtosis):
    """Kurtosis is raw: 3 for a normal distribution."""
    deviation = math.sqrt((1 - skewness * sharpe + (kurtosis - 1) / 4 * sharpe**2) / (periods - 1))
    return float(stats.norm.cdf(sharpe, loc=benchmark, scale=deviation))


def expected_best(trials, variance):
    weights = (1 - np.euler_gamma, np.euler_gamma)
    quantiles = stats.norm.isf([1 / trials, 1 / (trials * math.e)])
    return float(math.sqrt(variance) * np.dot(weights, quantiles))


def integrated_best(trials, variance):
    density = lambda x: x * trials * stats.norm.pdf(x) * stats.norm.cdf(x) ** (trials - 1)
    return float(math.sqrt(variance) * integrate.quad(density, -12, 12, epsabs=1e-12, limit=500)[0])


deflated = []
for trials, variance, sharpe, periods, skewness, kurtosis in [
    (100, 0.5 / 250, 2.5 / math.sqrt(250), 1250, -3, 10),  # the paper's example: 0.9004
    (46, 0.5 / 250, 2.5 / math.sqrt(250), 1250, -3, 10),  # the same from 46 trials: 0.95
    (88, 0.5 / 250, 2.5 / math.sqrt(250), 1250, 0, 3),  # 0.95 for normal returns
    (2, 0.01, 0.05, 24, 0.3, 4.5),
    (1000, 0.002, -0.1, 60, -1.2, 8),
    (1_000_000, 0.0001, 0.3, 10_000, 0.1, 3.2),
]:
    best = expected_best(trials, variance)
    deflated.append({
        "trials": trials, "variance": variance, "sharpe": sharpe, "periods": periods,
        "skewness": skewness, "kurtosis": kurtosis, "best": best,
        "integrated": integrated_best(trials, variance) if trials <= 1000 else None,
        "probability": psr(sharpe, best, periods, skewness, kurtosis),
        "undeflated": psr(sharpe, 0, periods, skewness, kurtosis),
    })


def sharpe_of(rows):
    """Column by column; 0 if the returns do not vary."""
    deviations = rows.std(axis=0)
    varies = deviations > 1e-12 * np.abs(rows.mean(axis=0))
    return np.where(varies, rows.mean(axis=0) / np.where(varies, deviations, 1), 0.0)


def pbo(matrix, blocks):
    periods, trials = matrix.shape
    used = matrix[periods % blocks:]
    parts = np.split(used, blocks)
    logits, inside, outside = [], [], []
    for chosen in itertools.combinations(range(blocks), blocks // 2):
        rest = [block for block in range(blocks) if block not in chosen]
        first = sharpe_of(np.vstack([parts[block] for block in chosen]))
        other = sharpe_of(np.vstack([parts[block] for block in rest]))
        best = int(np.argmax(first))
        omega = stats.rankdata(other, method="average")[best] / (trials + 1)
        logits.append(math.log(omega / (1 - omega)))
        inside.append(first[best])
        outside.append(other[best])
    return {
        "blocks": blocks,
        "probability": float(np.mean(np.array(logits) <= 0)),
        "lossProbability": float(np.mean(np.array(outside) < 0)),
        "medianLogit": float(np.median(logits)),
        "degradation": float(np.polyfit(inside, outside, 1)[0]),
        "splits": len(logits),
        "trials": trials,
        "periods": len(used),
    }


def noise(periods, trials):
    return (0.01 * rng.standard_normal((periods, trials))).round(6)


skilled = noise(130, 8)
skilled[:, 3] += 0.004
lucky = noise(77, 5)
lucky[:, 4] = 0.0
twins = noise(64, 6)
twins[:, 2] = twins[:, 1]
overfitted = []
for matrix, blocks in [(noise(160, 20), 16), (skilled, 10), (lucky, 6), (twins, 8), (noise(9, 2), 2)]:
    overfitted.append({"returns": matrix.T.tolist(), **pbo(matrix, blocks)})

values = {
    "made by": f"numpy {np.__version__}, scipy {scipy.__version__}",
    "deflated": deflated,
    "overfitting": overfitted,
}
with open(os.path.join(HERE, "selection.json"), "w") as file:
    json.dump(values, file, separators=(",", ":"))
    file.write("\n")
