/**
 * Removed rules that allowed an attack, each planted into the current engine by source edits that
 * exist in a test build only. A planted rule has the number of its attack.
 */
import type { SourceEdit } from '../mutants/mutant.ts';

export interface PlantedRule {
  readonly id: string;
  readonly attack: 1 | 2 | 3 | 4 | 5 | 6 | 8;
  /** The old rule in one sentence. */
  readonly means: string;
  /** The current rule. */
  readonly rule: string;
  readonly edits: readonly SourceEdit[];
}

const CLEARING = 'engine/liquidation/clearing.ts';
const PLAN = 'engine/liquidation/clearing-plan.ts';
const LIQUIDATION = 'engine/liquidation/liquidation.ts';
const TAKEOVER = 'engine/liquidation/takeover.ts';

export const PLANTED_RULES: readonly PlantedRule[] = [
  {
    id: 'frozen-position-stops-liquidation',
    attack: 1,
    means: 'An account with a position in a frozen market is not liquidated anywhere.',
    rule: 'R-6.1',
    edits: [
      {
        file: CLEARING,
        find: 'return unit.positions().length === 0 || unit.freshPositions(state).length > 0;',
        replace: 'return unit.positions().length === unit.freshPositions(state).length;',
      },
      {
        file: LIQUIDATION,
        find: 'if (fresh.length === 0) return begins',
        replace: 'if (fresh.length < unit.positions().length) return begins',
      },
    ],
  },
  {
    id: 'deficit-by-maintenance-without-bounds',
    attack: 2,
    means:
      'A deficit is divided among positions by maintenance, its parties pay without a limit, and a debt without a position stays.',
    rule: 'R-6.3, R-6.4',
    edits: [
      {
        file: PLAN,
        find: 'const losses = positions.map(lossOf);',
        replace: 'const losses = positions.map(() => 0n);',
      },
      { file: PLAN, find: 'bound: money(lots, tickLot, move),', replace: 'bound: 2n ** 62n,' },
      {
        file: PLAN,
        find: 'unit.isHouse ? chargeable : minBig(chargeable, left.get(unit) ?? 0n)',
        replace: 'chargeable',
      },
      {
        file: CLEARING,
        find: 'if (unit.balance >= 0n || unit.positions().length > 0) return false;',
        replace: 'if (unit !== null) return false;',
      },
    ],
  },
  {
    id: 'isolated-position-costs-free-cash',
    attack: 3,
    means:
      'A deficit is also divided among markets without a price move, and the owner of an isolated position pays from free cash.',
    rule: 'R-6.3, R-6.4',
    edits: [
      {
        file: PLAN,
        find: 'const losses = positions.map(lossOf);',
        replace: 'const losses = positions.map(() => 0n);',
      },
      {
        file: CLEARING,
        find: 'equity: isHouse ? 0n : unit.admissionEquity(state)',
        replace:
          'equity: isHouse ? 0n : unit.isolated === null ? unit.admissionEquity(state) : 2n ** 62n',
      },
      {
        file: PLAN,
        find: 'bound: money(lots, tickLot, move),',
        replace:
          'bound: counterparty.unit.equity === 2n ** 62n ? 2n ** 62n : money(lots, tickLot, move),',
      },
      {
        file: CLEARING,
        find: 'const debt = -unit.balance;',
        replace: `const debt = -unit.balance;
  if (unit.isolated !== null) {
    credit(state, unit.subaccount, quanta(-debt), 'insurance');
    creditUnit(state, unit, debt, 'insurance');
    return true;
  }`,
      },
    ],
  },
  {
    id: 'deleveraging-takes-the-equity',
    attack: 4,
    means: 'Auto-deleveraging closes at the mark, and the equity of the owner goes to the parties.',
    rule: 'R-6.4',
    edits: [
      {
        file: PLAN,
        find: 'const relief = shares.map((of) => sum(of.map((share) => share.relief)));',
        replace:
          'if (equity > 0n && all[0] !== undefined) all[0].relief += equity;\n' +
          '  const relief = shares.map((of) => sum(of.map((share) => share.relief)));',
      },
      {
        file: 'engine/pricing/settlement-price.ts',
        find: 'return market.indexTicks ?? mustMark(market);',
        replace: 'return mustMark(market);',
      },
    ],
  },
  {
    id: 'withdrawals-on-a-frozen-mark',
    attack: 5,
    means: 'The withdrawable amount values frozen positions at the mark without a haircut.',
    rule: 'R-5.9',
    edits: [
      {
        file: 'engine/margin/margin.ts',
        find: 'const free = figures.admissionEquity - held - figures.haircut;',
        replace: 'const free = figures.equity - held;',
      },
    ],
  },
  {
    id: 'vault-takes-over-at-the-mark',
    attack: 6,
    means: 'The vault takes over positions at the mark, whatever the index.',
    rule: 'R-6.2',
    edits: [
      {
        file: TAKEOVER,
        find: 'const priceTicks = takeoverOf(market, exposure.positionLots);',
        replace: 'const priceTicks = mustMark(market);',
      },
      {
        file: TAKEOVER,
        find: 'const payment = minBig(left, maxBig(0n, half - advantage));',
        replace: 'const payment = advantage < 0n ? 0n : minBig(left, half);',
      },
      {
        file: TAKEOVER,
        find: 'free += payment + worth(exposure, market, after, takeoverOf);',
        replace: 'free += payment + worth(exposure, market, after, mustMark);',
      },
      {
        file: LIQUIDATION,
        find: 'const equity = unit.equityAt(state, takeoverOf);',
        replace: 'const { equity } = figures;',
      },
      {
        file: LIQUIDATION,
        find: 'if (unit.equityAt(state, settlementTicks) >= 0n) {',
        replace: 'if (figures.equity >= 0n) {',
      },
      {
        file: LIQUIDATION,
        find: 'if (unit.equityAt(state, settlementTicks) < 0n) {',
        replace: 'if (figures.equity < 0n) {',
      },
      {
        file: CLEARING,
        find: 'if (unit.equityAt(state, settlementTicks) >= 0n) return false;',
        replace: 'if (unit.figures(state).equity >= 0n) return false;',
      },
    ],
  },
  {
    id: 'funding-samples-on-a-schedule',
    attack: 8,
    means: 'Premiums are sampled at multiples of the sampling interval.',
    rule: 'R-7.1',
    edits: [
      {
        file: 'engine/pricing/sampling.ts',
        find: 'return n * lengthUs + 1 + offset;',
        replace: 'return kind === PREMIUM_INTERVAL ? n * lengthUs : n * lengthUs + 1 + offset;',
      },
    ],
  },
];
