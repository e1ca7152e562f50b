/** Bankruptcy prices and the shares of positions in the equity of their unit. */
import { expect, test } from 'vitest';
import {
  bankruptcyTicks,
  equityShare,
  liquidationLimit,
} from '../../../src/engine/liquidation/bankruptcy.ts';
import { RiskUnit } from '../../../src/engine/margin/risk-unit.ts';
import { MAX_PRICE_TICKS } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, usd } from '../risk-world.ts';

/** Ann has 10 in M at 100 and −5 in N at 300, with this maintenance rate in both. */
function opened(maintenanceMargin: string) {
  const world = new RiskWorld(
    ['M', 'N'].map((symbol) => ({ symbol, initialMargin: '0.1', maintenanceMargin })),
  );
  world.fund({ ann: '1000', bob: '100000' });
  world.price('100', 'M');
  world.price('300', 'N');
  world.trade('ann', 'bob', '10', '100', 'M');
  world.trade('ann', 'bob', '-5', '300', 'N');
  const state = stateOf(world.engine);
  const ann = state.subaccount(world.idOf('ann'));
  const unit = new RiskUnit(ann, null);
  const at = (symbol: string) => ann.exposure(world.marketOf(symbol));
  return { state, unit, long: at('M'), short: at('N') };
}

test.each(['0.05', '0'])('the equity is shared by requirement, or by notional: rate %s', (rate) => {
  const { state, unit, long, short } = opened(rate);
  const shareOf = (exposure: typeof long) => equityShare(state, unit, usd('500'), exposure);
  // 1,000 and 1,500 of notional.
  const [first, second] = [shareOf(long), shareOf(short)];
  const total = usd(rate === '0' ? '2500' : '125');
  expect([first.total, second.total]).toEqual([total, total]);
  expect([first.weight * 5n, second.weight * 5n]).toEqual([total * 2n, total * 3n]);
  // 200 of 500 over 10 lots, and 300 over 5.
  expect(bankruptcyTicks(state, long, first)).toBe(80);
  expect(bankruptcyTicks(state, short, second)).toBe(360);
});

test('prices stay within the range of prices', () => {
  const { state, long, short } = opened('0.05');
  const share = (equity: string) => ({ equity: usd(equity), weight: 1n, total: 1n });
  expect(bankruptcyTicks(state, long, share('999'))).toBe(0);
  expect(bankruptcyTicks(state, long, share('1001'))).toBe(0);
  expect(bankruptcyTicks(state, short, share('500000000'))).toBe(100_000_300);
  expect(bankruptcyTicks(state, short, share('5000000000000000'))).toBe(MAX_PRICE_TICKS);
  // The fee of 1 % rounds toward the owner.
  expect(liquidationLimit(state, long, share('100'), 10_000)).toBe(91);
  expect(liquidationLimit(state, short, share('100'), 10_000)).toBe(316);
});
