/**
 * A market whose index is the mid of its book, with history as trades or as bars. Eve sells 1,000 at
 * 91 into a bid of 5 at 100. 995 rest at 91, and the synthetic bid stays a tick below it (D-67), so
 * the mid of the book is Eve's choice. The index followed it: of bars from the next order until the
 * next bar, of trades for as long as Eve's order rested. Hal, long at 100, was liquidated, though
 * all recorded prices were 100. Now index and mark have the mid that history states (decision 0143).
 */
import { afterAll, expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { lots, priceTicks, timeUs } from '../../src/num/units.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

class SyntheticWorld extends AttackWorld {
  private readonly kind: 'bars' | 'trades';

  /** Hal is long 150 at 100 with money of 2,000, and Eve's order rests at 91. */
  constructor(kind: 'bars' | 'trades', markSource: string) {
    super([
      {
        ...{ symbol: 'M', lotSize: '1', markSource, indexSource: 'mid', recordedLiquidity: true },
        ...{ initialMargin: '0.1', maintenanceMargin: '0.05' },
      },
    ]);
    this.kind = kind;
    this.fund({ eve: '200000', hal: '2000' });
    this.history(100, 200);
    this.order('hal', '150', '100.1');
    this.history(100, 5);
    this.order('eve', '-1000', '91');
    this.wait(1000);
  }

  /** Without the test of solvency: the other side of recorded liquidity has no money. */
  override submit(command: Command): ReturnType<AttackWorld['submit']> {
    this.commands.push(command);
    const outcome = this.engine.apply(command, (event) => void this.events.push(event));
    expect(this.engine.checkInvariants(), `after ${command.kind}`).toEqual([]);
    return outcome;
  }

  /** A second of history at a price, with a book of this size around it. */
  history(price: number, size: number): void {
    const at = { timeUs: timeUs(this.atUs), market: this.marketOf('M') };
    const ticks = priceTicks(price * 10);
    const commands: Command[] =
      this.kind === 'bars'
        ? [
            {
              ...{ kind: 'tapeBar', ...at, volumeLots: lots(size), depthLots: lots(size) },
              ...{ openTicks: ticks, highTicks: ticks, lowTicks: ticks, closeTicks: ticks },
              ...{ quoteTicks: ticks, spreadTicks: 2, path: 'nearest', fill: 'touch' },
            },
          ]
        : [
            { kind: 'tapeTrade', ...at, priceTicks: ticks, lots: lots(size) },
            {
              ...{ kind: 'tapeQuotes', ...at },
              levels: [
                { side: 'bid', priceTicks: priceTicks(ticks - 1), lots: lots(size) },
                { side: 'ask', priceTicks: priceTicks(ticks + 1), lots: lots(size) },
              ],
            },
          ];
    for (const command of commands) this.apply(command);
    this.wait(1000);
  }

  prices(): readonly (number | null)[] {
    const { indexTicks, markTicks } = this.engine.market(this.marketOf('M'));
    return [indexTicks, markTicks];
  }
}

const KINDS = ['bars', 'trades'] as const;

test.each(KINDS)('an order far through the book does not move the index of %s', (kind) => {
  const world = new SyntheticWorld(kind, 'mid');
  for (const size of [9, 20, 30]) {
    world.history(100, size);
    // Another order changes the book between two prices of history.
    world.order('eve', '1', '60');
    world.wait(1000);
    expect(world.engine.depth(world.marketOf('M'), 'ask', 1)).toMatchObject([{ priceTicks: 910 }]);
    expect(world.prices()).toEqual([1000, 1000]);
  }
  expect(world.stepsOf('hal')).toEqual([]);
});

test.each(KINDS)('the index of %s follows history while the order rests, and after it', (kind) => {
  const world = new SyntheticWorld(kind, 'index');
  world.history(100, 1);
  // Three levels between recorded prices: the book stays as it is, beside Eve's order.
  for (const price of [102, 99, 101]) {
    world.history(price, 1);
    expect(world.prices()).toEqual([price * 10, price * 10]);
  }
  // A snapshot keeps it, and restores it.
  const copy = world.engine.fork();
  expect(copy.stateHash()).toBe(world.engine.stateHash());
  world.cancelAll('eve');
  world.wait(2000);
  expect(world.prices()).toEqual([1010, 1010]);
  world.history(103, 7);
  expect(world.prices()).toEqual([1030, 1030]);
});

test('the index follows a stated bid that leaves the book as it is', () => {
  const world = new SyntheticWorld('trades', 'index');
  const depth = () =>
    (['bid', 'ask'] as const).map((side) => world.engine.depth(world.marketOf('M'), side, 9));
  const quote = (bid: number): void => {
    const at = { timeUs: timeUs(world.atUs), market: world.marketOf('M') };
    const levels = [
      { side: 'bid', priceTicks: priceTicks(bid), lots: lots(3) },
      { side: 'ask', priceTicks: priceTicks(1003), lots: lots(3) },
    ] as const;
    world.apply({ kind: 'tapeQuotes', ...at, levels });
    world.wait(1000);
  };
  quote(999);
  const before = depth();
  expect(world.prices()[0]).toBe(1001);
  quote(989);
  expect(depth()).toEqual(before);
  expect(world.prices()[0]).toBe(996);
});
