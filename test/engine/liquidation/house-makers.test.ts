/** The engine's closing order against history's volume, whose impact hides levels. */
import { expect, test } from 'vitest';
import type { TapeLevel } from '../../../src/engine/commands.ts';
import { lots, marketId, priceTicks, timeUs } from '../../../src/num/units.ts';
import { RiskWorld } from '../risk-world.ts';

const MARKET = {
  tickSize: '1',
  lotSize: '1',
  initialMargin: '0.1',
  maintenanceMargin: '0.09',
  recordedLiquidity: true,
  takerFee: '0',
};
const SQUARE_ROOT = { impactModel: 'squareRoot', impactHalfLifeMs: 3_600_000 };
const MINUTE_MS = 60_000;

/** 50 lots on each of ten levels, from 999 down and from 1001 up. */
const LEVELS: readonly TapeLevel[] = Array.from({ length: 10 }, (_, i): TapeLevel[] => [
  { side: 'bid', priceTicks: priceTicks(999 - i), lots: lots(50) },
  { side: 'ask', priceTicks: priceTicks(1001 + i), lots: lots(50) },
]).flat();

class HistoryWorld extends RiskWorld {
  constructor(changes: Record<string, unknown>) {
    super([{ ...MARKET, ...changes }], { partialLiquidationNotional: '1000000' });
    this.fund({ ann: '8000', bob: '1000000' });
    this.price('1000');
    this.state();
    // Moves of 1, −2 and 2 ticks with 100 lots each: one tick is in reach from 9 lots, two from 75.
    for (const [price, size] of [
      [1000, 70],
      [1001, 100],
      [999, 100],
      [1001, 100],
      [1000, 1],
    ] as const) {
      const at = { timeUs: timeUs(this.atUs), market: marketId(0) };
      const taken = lots(price > 1000 ? size : -size);
      expect(
        this.apply({ kind: 'tapeTrade', ...at, priceTicks: priceTicks(price), lots: taken }),
      ).toBe('ok');
      this.state();
      this.wait(MINUTE_MS);
    }
  }

  private state(): void {
    const at = { timeUs: timeUs(this.atUs), market: marketId(0) };
    expect(this.apply({ kind: 'tapeSnapshot', ...at, levels: LEVELS })).toBe('ok');
  }

  /** `lots@price` of each fill of ann's since an event. */
  fills(from: number): string[] {
    const ann = this.idOf('ann');
    return this.events
      .slice(from)
      .flatMap((event) =>
        event.kind === 'orderFilled' && event.subaccount === ann
          ? [`${String(event.lots)}@${String(event.priceTicks)}`]
          : [],
      );
  }

  book(): string {
    const side = (name: 'bid' | 'ask'): string =>
      this.engine
        .depth(marketId(0), name, 3)
        .map((level) => `${String(level.lots)}@${String(level.priceTicks)}`)
        .join(' ');
    return `${side('bid')} | ${side('ask')}`;
  }
}

test.each([
  {
    size: '80',
    mark: '985',
    fills: ['-9@999', '-50@998', '-21@997'],
    book: '29@997 50@996 50@995 | 50@1001 50@1002 50@1003',
  },
  {
    size: '-80',
    mark: '1014',
    fills: ['9@1001', '50@1002', '21@1003'],
    book: '50@999 50@998 50@997 | 29@1003 50@1004 50@1005',
  },
])(
  'a position of $size takes what is not in reach of its own impact',
  ({ size, mark, ...expected }) => {
    const world = new HistoryWorld(SQUARE_ROOT);
    world.trade('ann', 'bob', size, '1000');
    const from = world.events.length;
    world.price(mark);
    expect(world.steps(from)).toEqual(['ann order']);
    expect(world.position('ann')).toBeUndefined();
    expect([world.fills(from), world.book()]).toEqual([expected.fills, expected.book]);
  },
);

test.each([
  {
    size: '80',
    mark: '985',
    fills: ['-50@999', '-30@998'],
    book: '20@998 50@997 50@996 | 50@1001 50@1002 50@1003',
  },
  {
    size: '-80',
    mark: '1014',
    fills: ['50@1001', '30@1002'],
    book: '50@999 50@998 50@997 | 20@1002 50@1003 50@1004',
  },
])('without impact, a position of $size takes whole levels', ({ size, mark, ...expected }) => {
  const world = new HistoryWorld({});
  world.trade('ann', 'bob', size, '1000');
  const from = world.events.length;
  world.price(mark);
  expect(world.steps(from)).toEqual(['ann order']);
  expect([world.fills(from), world.book()]).toEqual([expected.fills, expected.book]);
});
