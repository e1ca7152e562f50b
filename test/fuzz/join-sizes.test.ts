/** Failures that depend on a sum of sizes: orders of one side become one. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';

const VIOLATION: Violation = {
  invariant: 'rareSum',
  rule: 'a test',
  says: 'no market has this volume',
  detail: '',
};
const config = DEFAULT_EXCHANGE_CONFIG;

/** A check that refuses 13 bought lots beside 5 sold ones, and no other sums. */
function sumChecker(): Checker {
  const sums = new Map<string, number>();
  return {
    after: (_, command) => {
      if (command.kind !== 'tapeTrade') return null;
      const key = `${String(command.market)} ${command.lots > 0 ? 'bought' : 'sold'}`;
      sums.set(key, (sums.get(key) ?? 0) + command.lots);
      return sums.get('0 bought') === 13 && sums.get('0 sold') === -5 ? VIOLATION : null;
    },
  };
}

test('trades of one market and side become one, those of the other side another', () => {
  const sizes = [1, 2, -1, 1, -1, 3, 1, -3, 2, 3];
  const commands = sizes.map((size, i) => ({
    kind: 'tapeTrade' as const,
    timeUs: timeUs(config.genesisTimeUs + i),
    market: marketId(0),
    priceTicks: priceTicks(100 + i),
    lots: lots(size),
  }));
  const { script } = shrink(
    { violation: VIOLATION, config, commands },
    { createEngine: (settings) => new Exchange(settings), createChecker: sumChecker },
  );
  const left = script.steps.map(({ command }) => (command.kind === 'tapeTrade' ? command.lots : 0));
  expect(left.toSorted((a, b) => a - b)).toEqual([-5, 13]);
});
