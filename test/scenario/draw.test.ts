/** Draws of a crowd: exact steps within bounds, by distribution, independent of other steps. */
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import type { Scenario, Step } from '../../src/scenario/scenario.ts';
import { formatProblem, type MapNode } from '../../src/scenario/source-node.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

function parse(text: string): Scenario {
  const parsed = parseScenario(text, 'x.yaml', keccak);
  if (parsed.ok) return parsed.scenario;
  throw new Error(parsed.problems.map((problem) => formatProblem('x.yaml', problem)).join('\n'));
}

function faults(text: string): string[] {
  const parsed = parseScenario(text, 'x.yaml', keccak);
  return parsed.ok ? [] : parsed.problems.map((problem) => formatProblem('x.yaml', problem));
}

const crowd = (draw: string, seed = 7, count = 1000): string =>
  `orrery: 1\nseed: ${String(seed)}\naccounts:\n  crowd: { count: ${String(count)}, deposit: ${draw} }\nsteps:\n`;

const depositsOf = (text: string): number[] =>
  parse(`${text}  - wait: 1s\n`).accounts.map(({ deposit }) => Number(deposit) / 1e6);

/** Values that each member sends under a key, by member. */
function sent(text: string, key: string): string[] {
  return parse(text).steps.flatMap(({ action }: Step) => {
    if (action?.kind !== 'call') return [];
    const value = (action.request as MapNode).entries.get(key)?.value;
    return value?.kind === 'scalar' ? [value.text] : [];
  });
}

const share = (values: readonly number[], below: number): number =>
  values.filter((value) => value < below).length / values.length;

describe('a drawn deposit', () => {
  it('is a multiple of its step within its inclusive bounds', () => {
    const values = depositsOf(crowd('{ draw: uniform, from: 0.5, to: 2, step: 0.25 }'));
    expect([...new Set(values)].sort((a, b) => a - b)).toEqual([0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]);
  });

  it('is uniform, or uniform in its logarithm by logUniform', () => {
    const even = depositsOf(crowd('{ draw: uniform, from: 100, to: 10000, step: 1 }'));
    expect(share(even, 5050)).toBeCloseTo(0.5, 1);
    const log = depositsOf(crowd('{ draw: logUniform, from: 100, to: 10000, step: 1 }'));
    expect(share(log, 1000)).toBeCloseTo(0.5, 1);
    expect(share(log, 316)).toBeCloseTo(0.25, 1);
    expect(Math.min(...log)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...log)).toBeLessThanOrEqual(10000);
  });

  it('is chosen from a list', () => {
    const values = depositsOf(crowd('{ draw: choice, of: [10, 20.5] }'));
    expect([...new Set(values)].sort()).toEqual([10, 20.5]);
    expect(share(values, 20)).toBeCloseTo(0.5, 1);
  });

  it('depends on seed and salt', () => {
    const draw = (salt: string): string =>
      `{ draw: uniform, from: 1, to: 1000000, step: 1${salt} }`;
    const first = depositsOf(crowd(draw(''), 7, 50));
    expect(depositsOf(crowd(draw(''), 7, 50))).toEqual(first);
    expect(depositsOf(crowd(draw(', salt: 0'), 7, 50))).toEqual(first);
    expect(depositsOf(crowd(draw(''), 8, 50))).not.toEqual(first);
    expect(depositsOf(crowd(draw(', salt: 1'), 7, 50))).not.toEqual(first);
  });

  it('does not change when the crowd grows', () => {
    const draw = '{ draw: uniform, from: 1, to: 1000000, step: 1 }';
    expect(depositsOf(crowd(draw, 7, 60)).slice(0, 50)).toEqual(depositsOf(crowd(draw, 7, 50)));
  });
});

describe('a drawn field of a request', () => {
  const head = crowd('5', 7, 20);
  const order = (quantity: string): string =>
    `  - { as: crowd, do: submitOrder, with: { price: 1, quantity: ${quantity} } }\n`;
  const draw = '{ draw: logUniform, from: 0.001, to: 10, step: 0.001 }';

  it('is drawn for each member, and does not change with earlier steps', () => {
    const alone = sent(head + order(draw), 'quantity');
    expect(new Set(alone).size).toBeGreaterThan(15);
    const more = `${head}  - wait: 1s\n${order('{ draw: uniform, from: 1, to: 9, step: 1 }')}`;
    expect(sent(more + order(draw), 'quantity').slice(20)).toEqual(alone);
  });

  it('is equal for equal draws, and differs with a salt', () => {
    const both = sent(head + order(draw) + order(draw), 'quantity');
    expect(both.slice(20)).toEqual(both.slice(0, 20));
    const salted = sent(head + order(draw) + order(draw.replace(' }', ', salt: 1 }')), 'quantity');
    expect(salted.slice(20)).not.toEqual(salted.slice(0, 20));
  });

  it('is mirrored below zero by logUniform', () => {
    const sizes = sent(
      head + order('{ draw: logUniform, from: -10, to: -1, step: 1 }'),
      'quantity',
    );
    for (const size of sizes.map(Number)) {
      expect(size).toBeGreaterThanOrEqual(-10);
      expect(size).toBeLessThanOrEqual(-1);
    }
  });

  it('may be in a nested field of the request', () => {
    const text = `${head}  - as: crowd\n    do: submitOrder\n    with:\n      price: 1\n      quantity: 1\n      takeProfit: { triggerPrice: ${draw} }\n`;
    const [first] = parse(text).steps;
    const request = first?.action?.kind === 'call' ? first.action.request : null;
    const leg = request?.entries.get('takeProfit')?.value as MapNode;
    expect(leg.entries.get('triggerPrice')?.value).toMatchObject({ kind: 'scalar' });
  });
});

/** A draw as a crowd's deposit, on line 4 from column 34. */
const DRAWS: readonly [title: string, draw: string, fault: string][] = [
  [
    'an unknown distribution',
    '{ draw: normal, from: 1, to: 2, step: 1 }',
    '4:42: accounts.crowd.deposit.draw: the text "normal" is not a distribution',
  ],
  [
    'a misspelt distribution',
    '{ draw: logunifrom, from: 1, to: 2, step: 1 }',
    '4:42: accounts.crowd.deposit.draw: the text "logunifrom" is not a distribution; did you mean "logUniform"?',
  ],
  [
    'a reversed range',
    '{ draw: uniform, from: 3, to: 2, step: 1 }',
    '4:64: accounts.crowd.deposit.to: 2 is below "from"',
  ],
  [
    'a bound between two steps',
    '{ draw: uniform, from: 1, to: 2.25, step: 0.5 }',
    '4:64: accounts.crowd.deposit.to: 2.25 is not a multiple of 0.5',
  ],
  [
    'a step of 0',
    '{ draw: uniform, from: 1, to: 2, step: 0 }',
    '4:73: accounts.crowd.deposit.step: must be more than 0',
  ],
  [
    'a missing step',
    '{ draw: uniform, from: 1, to: 2 }',
    '4:34: accounts.crowd.deposit: a draw of uniform needs "step"',
  ],
  [
    'too many values',
    '{ draw: uniform, from: 0, to: 4295, step: 0.000001 }',
    '4:76: accounts.crowd.deposit.step: leaves more than 4294967296 values; take a larger step',
  ],
  [
    'a logarithm of zero',
    '{ draw: logUniform, from: 0, to: 5, step: 1 }',
    '4:60: accounts.crowd.deposit.from: the range of logUniform must not contain 0',
  ],
  [
    'a choice with bounds',
    '{ draw: choice, of: [1], from: 1 }',
    '4:59: accounts.crowd.deposit: a draw of choice has no "from"',
  ],
  [
    'a choice from an empty list',
    '{ draw: choice, of: [] }',
    '4:54: accounts.crowd.deposit.of: expected 1 to 10000 items, found 0',
  ],
  [
    'an unknown key',
    '{ draw: uniform, form: 1, to: 2, step: 1 }',
    '4:51: accounts.crowd.deposit: unknown key "form"; did you mean "from"?',
  ],
  [
    'an amount finer than a quantum',
    '{ draw: choice, of: [0.0000001] }',
    '4:34: accounts.crowd.deposit: has more than 6 decimals',
  ],
];

describe('a fault in a draw', () => {
  it.each(DRAWS)('names %s', (_, draw, fault) => {
    const text = `orrery: 1\nseed: 7\naccounts:\n  crowd: { count: 3,    deposit: ${draw} }\nsteps: []\n`;
    expect(faults(text)).toContain(`x.yaml:${fault}`);
  });

  it.each([
    [
      'a deposit of one account',
      'accounts: { alice: { deposit: { draw: uniform, from: 1, to: 2, step: 1 } } }\nsteps: []',
      '2:33: accounts.alice.deposit: a draw needs a crowd: give "count"',
    ],
    [
      'a request of one account',
      'accounts: { alice: {} }\nsteps:\n  - { as: alice, do: submitOrder, with: { price: { draw: uniform } } }',
      '4:52: steps[0].with.price: a draw needs a crowd in "as"',
    ],
    [
      'a request of a crowd, by its path',
      'accounts: { crowd: { count: 2 } }\nsteps:\n  - { as: crowd, do: submitOrder, with: { price: { draw: uniform, from: 1, to: 2 } } }',
      '4:50: steps[0].with.price: a draw of uniform needs "step"',
    ],
  ])('reports %s with its place', (_, text, fault) => {
    expect(faults(`orrery: 1\n${text}\n`)).toContain(`x.yaml:${fault}`);
  });
});
