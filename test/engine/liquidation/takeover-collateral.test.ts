/**
 * Collateral of the vault for a take-over (R-6.2, step 3): the smallest deposit at which it takes a
 * position, to the Quantum, and the same commands beside the oracle on both sides of it.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from '../../attacks/world.ts';
import { dollars } from '../risk-world.ts';

afterAll(expectOracleAgrees);

const TERMS = {
  tickSize: '1',
  lotSize: '0.001',
  initialMargin: '0.1',
  maintenanceMargin: '0.05',
  markSource: 'external',
  priceBand: '1',
  funding: { source: 'external' },
};

/** Ann holds a long of 10 M at 100 with 100 USD, and the vault has this deposit. */
function opened(vault: bigint, ann = { size: '10', balance: '100' }): AttackWorld {
  const world = new AttackWorld([
    { ...TERMS, symbol: 'M' },
    { ...TERMS, symbol: 'N' },
  ]);
  world.fund({ ann: ann.balance, eve: '50', bob: '1000000', dan: '1000000' });
  for (const symbol of ['M', 'N']) world.price('100', symbol);
  if (vault > 0n) expect(world.transfer('dan', 'vault', dollars(vault))).toBe('ok');
  world.trade('ann', 'bob', ann.size, '100', 'M');
  return world;
}

/** The vault takes Eve's 5 N at 94, for 11.75, half of the maintenance requirement. */
function holdingN(vault: bigint): AttackWorld {
  const world = opened(vault);
  world.trade('eve', 'bob', '5', '100', 'N');
  world.price('94', 'N');
  return world;
}

interface Row {
  readonly name: string;
  /** Until Ann is liquidated, with this deposit in the vault. */
  readonly play: (vault: bigint) => AttackWorld;
  /** Smallest deposit at which the vault takes Ann's position. */
  readonly needed: string;
}

const ROWS: readonly Row[] = [
  {
    name: 'nothing else: the initial requirement of 94 less its payment of 23.5',
    play: (vault) => {
      const world = opened(vault);
      world.price('94', 'M');
      return world;
    },
    needed: '70.5',
  },
  {
    name: 'a profit of 20 elsewhere counts, and its requirement of 49',
    play: (vault) => {
      const world = holdingN(vault);
      world.price('98', 'N');
      world.price('94', 'M');
      return world;
    },
    // 94 + 49 − 23.5 − 11.75 − 20
    needed: '87.75',
  },
  {
    name: 'a loss of 20 elsewhere counts',
    play: (vault) => {
      const world = holdingN(vault);
      world.price('90', 'N');
      world.price('94', 'M');
      return world;
    },
    // 94 + 45 − 23.5 − 11.75 + 20
    needed: '123.75',
  },
  {
    name: 'a profit in a halted market does not count, and half of the position is withheld',
    play: (vault) => {
      const world = holdingN(vault);
      world.price('98', 'N');
      world.status('N', 'halted');
      world.price('94', 'M');
      return world;
    },
    // 94 + 49 − 23.5 − 11.75 + 245
    needed: '352.75',
  },
  {
    name: 'a loss in a halted market counts, and half of the position is withheld',
    play: (vault) => {
      const world = holdingN(vault);
      world.price('90', 'N');
      world.status('N', 'halted');
      world.price('94', 'M');
      return world;
    },
    // 94 + 45 − 23.5 − 11.75 + 20 + 225
    needed: '348.75',
  },
  {
    name: 'a short of the same market is closed by what it takes',
    play: (vault) => {
      const world = opened(vault, { size: '40', balance: '400' });
      world.trade('eve', 'bob', '-5', '100', 'M');
      // The vault takes Eve's short at 106, for 13.25.
      world.price('106', 'M');
      world.price('94', 'M');
      return world;
    },
    // 35 × 9.4 − 94 − 13.25 − 60 of profit on the short
    needed: '161.75',
  },
  {
    name: 'more of the same market adds to what it has',
    play: (vault) => {
      const world = opened(vault, { size: '10', balance: '120' });
      world.trade('eve', 'bob', '5', '100', 'M');
      // Eve's 5 at 94, for 11.75.
      world.price('94', 'M');
      world.price('92', 'M');
      return world;
    },
    // 15 × 9.2 − 23 − 11.75 and a loss of 10
    needed: '113.25',
  },
];

function takes({ play }: Row, vault: bigint): boolean {
  return play(vault).stepsOf('ann').includes('takeover');
}

test.each(ROWS)('$name', (row) => {
  let [no, yes] = [-1n, 1_000_000_000n];
  expect(takes(row, yes)).toBe(true);
  while (yes - no > 1n) {
    const middle = (yes + no) / 2n;
    if (takes(row, middle)) yes = middle;
    else no = middle;
  }
  expect(dollars(yes)).toBe(row.needed);
});

/**
 * Pat is long 1 A at 40,000 with 800 USD. Quotes hold the mark this far below the index, and the
 * index falls. The vault affords everything.
 */
function pushedBelow(distance: number, index: string): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ pat: '800', vera: '1000000', xan: '1000000', eve: '1000000', ed: '1000000' });
  world.price('40000', 'A');
  world.transfer('vera', 'vault', '1000000');
  world.trade('pat', 'xan', '1', '40000', 'A');
  const quote = (centre: number): void => {
    world.quote('eve', 'ed', '0.65', `${String(centre - 1)}.9`, `${String(centre)}.1`, 'A');
  };
  quote(40_000 - distance);
  world.run(20 * 60_000, { A: '40000' });
  for (const who of ['eve', 'ed']) world.cancelAll(who);
  quote(Number(index) - distance);
  world.price(index, 'A');
  return world;
}

test.each([
  // Half of the maintenance requirement of 394.4, at the index.
  { distance: 0, index: '39440', payment: '197.2', left: '42.8' },
  // The mark is 39,400.1: 197.0005, less 39.9 that the vault gains by the price.
  { distance: 40, index: '39440', payment: '157.1005', left: '42.9995' },
  // The mark is 39,242.8, and the price alone is worth 197.2.
  { distance: 200, index: '39440', payment: '0', left: '42.8' },
  // Pat has 60.1 left.
  { distance: 40, index: '39300', payment: '60.1', left: '0' },
])('a mark $distance below the index: the vault is paid $payment', (row) => {
  const world = pushedBelow(row.distance, row.index);
  expect(world.stepsOf('pat')).toEqual(['takeover']);
  expect(dollars(world.engine.subaccount(world.idOf('pat')).balanceQuanta)).toBe(row.left);
  const paid = world.events.flatMap((event) =>
    event.kind === 'balanceChanged' && event.subaccount === world.idOf('vault') ? [event] : [],
  );
  const last = paid.at(-1);
  expect(last?.reason === 'takeover' ? dollars(last.deltaQuanta) : '0').toBe(row.payment);
});
