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
        file: `${CLEARING}#isBelowZero`,
        find: 'unit.positions().length === 0 || unit.freshPositions(state).length > 0',
        replace: 'unit.positions().length === unit.freshPositions(state).length',
      },
      {
        file: `${LIQUIDATION}#liquidate`,
        find: 'fresh.length === 0',
        replace: 'fresh.length < unit.positions().length',
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
        file: `${PLAN}#layDeficit`,
        find: 'positions.map(lossOf)',
        replace: 'positions.map(() => 0n)',
      },
      { file: `${PLAN}#sharesOf`, find: 'money(lots, tickLot, move)', replace: '2n ** 62n' },
      {
        file: `${PLAN}#bear`,
        find: 'unit.isHouse ? chargeable : minBig(chargeable, left.get(unit) ?? 0n)',
        replace: 'chargeable',
      },
      {
        file: `${CLEARING}#settleFlatDebt`,
        find: 'unit.balance >= 0n || unit.positions().length > 0',
        replace: 'unit !== null',
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
        file: `${PLAN}#layDeficit`,
        find: 'positions.map(lossOf)',
        replace: 'positions.map(() => 0n)',
      },
      {
        file: `${CLEARING}#planParty`,
        find: 'unit.admissionEquity(state)',
        replace: 'unit.isolated === null ? unit.admissionEquity(state) : 2n ** 62n',
      },
      {
        file: `${PLAN}#sharesOf`,
        find: 'money(lots, tickLot, move)',
        replace: 'counterparty.unit.equity === 2n ** 62n ? 2n ** 62n : money(lots, tickLot, move)',
      },
      {
        file: `${CLEARING}#settleFlatDebt`,
        find: 'const debt = -unit.balance;',
        replace:
          "const debt = -unit.balance; if (unit.isolated !== null) { credit(state, unit.subaccount, quanta(-debt), 'insurance'); creditUnit(state, unit, debt, 'insurance'); return true; }",
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
        file: `${PLAN}#planClearing`,
        find: 'shortfall += charge(-equity, positions, shares, left);',
        replace:
          'shortfall += charge(-equity, positions, shares, left); if (equity > 0n && all[0] !== undefined) all[0].relief += equity;',
      },
      {
        file: 'engine/pricing/settlement-price.ts#settlementTicks',
        find: 'market.indexTicks ??',
        replace: '',
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
        file: 'engine/margin/margin.ts#withdrawable',
        find: 'figures.admissionEquity - held - figures.haircut',
        replace: 'figures.equity - held',
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
        file: `${TAKEOVER}#planTakeover`,
        find: 'takeoverOf(market, exposure.positionLots)',
        replace: 'mustMark(market)',
      },
      {
        file: `${TAKEOVER}#planTakeover`,
        find: 'minBig(left, maxBig(0n, half - advantage))',
        replace: 'advantage < 0n ? 0n : minBig(left, half)',
      },
      {
        file: `${TAKEOVER}#vaultAffords`,
        find: 'exposure, market, after, takeoverOf',
        replace: 'exposure, market, after, mustMark',
      },
      {
        file: `${LIQUIDATION}#resolve`,
        find: 'equity = unit.equityAt(state, takeoverOf)',
        replace: '{ equity } = unit.figures(state)',
      },
      {
        file: `${LIQUIDATION}#resolve`,
        find: 'unit.equityAt(state, settlementTicks)',
        replace: 'unit.figures(state).equity',
      },
      {
        file: `${LIQUIDATION}#liquidate`,
        find: 'unit.equityAt(state, settlementTicks)',
        replace: 'unit.figures(state).equity',
      },
      {
        file: `${CLEARING}#isBelowZero`,
        find: 'unit.equityAt(state, settlementTicks)',
        replace: 'unit.figures(state).equity',
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
        file: 'engine/pricing/sampling.ts#instantUs',
        find: 'n * lengthUs',
        replace: 'kind === PREMIUM_INTERVAL ? n * lengthUs : n * lengthUs',
      },
    ],
  },
];
