/** Sizes by hand. */
import { expect, test } from 'vitest';
import { fixedFraction, kelly, volatilityTarget } from '../../src/strategy/index.ts';

test.each([
  // 1 % of 10,000 is 100; the stop is 200 away.
  [
    'risk to a stop',
    fixedFraction({ equity: 10_000, fraction: 0.01, price: 50_000, stop: 49_800 }),
    0.5,
  ],
  [
    'a stop above, for a short',
    fixedFraction({ equity: 10_000, fraction: 0.01, price: 50_000, stop: 50_200 }),
    0.5,
  ],
  [
    'a share of equity without a stop',
    fixedFraction({ equity: 10_000, fraction: 0.2, price: 500 }),
    4,
  ],
  [
    'a limit of leverage',
    fixedFraction({ equity: 10_000, fraction: 0.01, price: 100, stop: 99.99, maxLeverage: 3 }),
    300,
  ],
  ['no equity', fixedFraction({ equity: -5, fraction: 0.01, price: 100 }), 0],
  [
    'half the volatility wanted',
    volatilityTarget({ equity: 10_000, target: 0.2, volatility: 0.4, price: 100 }),
    50,
  ],
  [
    'more than the limit',
    volatilityTarget({ equity: 10_000, target: 0.8, volatility: 0.4, price: 100 }),
    100,
  ],
  [
    'leverage that is allowed',
    volatilityTarget({ equity: 10_000, target: 0.8, volatility: 0.4, price: 100, maxLeverage: 2 }),
    200,
  ],
  [
    'a market that does not move',
    volatilityTarget({ equity: 10_000, target: 0.1, volatility: 0, price: 100 }),
    100,
  ],
  ['no target', volatilityTarget({ equity: 10_000, target: 0, volatility: 0, price: 100 }), 0],
  // 0.6 − 0.4 ÷ 1 = 0.2; half of it.
  ['half Kelly of bets', kelly({ winRate: 0.6, payoff: 1 }), 0.1],
  ['the cap', kelly({ winRate: 0.9, payoff: 2, share: 1 }), 0.25],
  ['no edge', kelly({ winRate: 0.4, payoff: 1 }), 0],
  ['returns: mean ÷ variance', kelly({ mean: 0.001, variance: 0.01, share: 1 }), 0.1],
])('%s', (_, size, expected) => {
  expect(size).toBeCloseTo(expected, 12);
});

test.each([
  ['price 0', () => fixedFraction({ equity: 1, fraction: 0.1, price: 0 })],
  [
    'the stop is at the price',
    () => fixedFraction({ equity: 1, fraction: 0.1, price: 5, stop: 5 }),
  ],
  ['fraction NaN', () => fixedFraction({ equity: 1, fraction: NaN, price: 5 })],
  ['maxLeverage -1', () => fixedFraction({ equity: 1, fraction: 1, price: 5, maxLeverage: -1 })],
  ['volatility -1', () => volatilityTarget({ equity: 1, target: 1, volatility: -1, price: 1 })],
  [
    'equity Infinity',
    () => volatilityTarget({ equity: Infinity, target: 1, volatility: 1, price: 1 }),
  ],
  ['winRate 2', () => kelly({ winRate: 2, payoff: 1 })],
  ['variance 0', () => kelly({ mean: 1, variance: 0 })],
])('%s is refused', (message, call) => {
  expect(call).toThrow(message);
});
