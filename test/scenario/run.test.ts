/** Reports of runs: failures by step and path, default fields of requests, saved responses. */
import { describe, expect, it, vi } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario, type ScenarioResult } from '../../src/scenario/run-scenario.ts';
import { formatProblem } from '../../src/scenario/source-node.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const HEAD = `orrery: 1
accounts: { alice: { deposit: 100000 }, bob: { deposit: 100000 }, carol: {} }
steps:
  - oracle: { BTC-USD-PERP: 60000 }
`;

function run(text: string): ScenarioResult {
  const parsed = parseScenario(text, 'x.yaml', keccak);
  if (!parsed.ok) throw new Error(parsed.problems.map((p) => formatProblem('x', p)).join('\n'));
  return runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
}

/** Differences of every failed step, as `step: path: expected / actual`. */
function failures(steps: string): string[] {
  return run(HEAD + steps).steps.flatMap((step) =>
    step.differences.map((d) => `${step.path}: ${d.path}: ${d.expected} / ${d.actual}`),
  );
}

describe('a failed expectation', () => {
  it.each([
    [
      'on a field of a response',
      '{ as: alice, do: submitOrder, with: { price: 60000, quantity: 1 }, expect: { body: [{ settled: 1 }] } }',
      ['steps[1]: body[0].settled: 1 / 0'],
    ],
    ['on the status', '{ do: getTime, expect: { status: 404 } }', ['steps[1]: status: 404 / 200']],
    [
      'on an error’s text',
      '{ do: getTrades, with: { limit: 0 }, expect: { error: no } }',
      ['steps[1]: error: no / Limit must be between 1 and 5000, got 0'],
    ],
    [
      'that a request is accepted',
      '{ do: getTrades, with: { symbol: NONE } }',
      ['steps[1]: status: 200 / 404', 'steps[1]: body: a response / Symbol not found'],
    ],
    [
      'that a request is rejected',
      '{ do: getTrades, expect: { error: Symbol not found } }',
      ['steps[1]: error: Symbol not found / []'],
    ],
    [
      'on whether another page follows',
      '{ as: alice, do: getTransfers, with: { limit: 1 }, expect: { more: true } }',
      ['steps[1]: more: true / false'],
    ],
    [
      'on the start of retention',
      '{ as: alice, do: getTransfers, expect: { keptSince: 1704067200000 } }',
      ['steps[1]: keptSince: 1704067200000 / null'],
    ],
    [
      'on a page that a list does not have',
      '{ as: alice, do: getTransfers, page: 2 }',
      ['steps[1]: page: 2 / 1 is the last'],
    ],
    [
      'on an outcome',
      '{ withdraw: { account: alice, amount: 100000.000001 } }',
      ['steps[1]: outcome: ok / amount_exceeds_available'],
    ],
    [
      'on a balance',
      '{ expect: { balances: { alice: 1, carol: 0, insurance: 0.5 } } }',
      ['steps[1]: balances.alice: 1 / 100000', 'steps[1]: balances.insurance: 0.5 / 0'],
    ],
    [
      'on a missing position',
      '{ expect: { positions: { alice: { BTC-USD-PERP: { quantity: 1 } } } } }',
      ['steps[1]: positions.alice.BTC-USD-PERP: {quantity: 1} / null'],
    ],
    [
      'on a side of the book',
      '{ expect: { book: { BTC-USD-PERP: { bids: [[1, 2]], asks: [] } } } }',
      ['steps[1]: book.BTC-USD-PERP.bids: [[1, 2]] / []'],
    ],
    [
      'on a similar event',
      '{ oracle: { BTC-USD-PERP: 61000 }, expect: { events: [{ kind: oracleSet, index: 61001 }] } }',
      ['steps[1]: events[0].index: 61001 / 61000'],
    ],
    [
      'on a missing event',
      '{ oracle: { BTC-USD-PERP: 61000 }, expect: { events: [{ kind: tradePrinted }] } }',
      ['steps[1]: events[0]: {kind: tradePrinted} / oracleSet, markChanged'],
    ],
    [
      'on the order of events',
      '{ oracle: { BTC-USD-PERP: 61000 }, expect: { events: [{ kind: markChanged }, { kind: oracleSet }] } }',
      ['steps[1]: events[1]: {kind: oracleSet} / no further event'],
    ],
    [
      'on all events, when exact',
      '{ oracle: { BTC-USD-PERP: 61000 }, expect: { exact: true, events: [] } }',
      [expect.stringMatching(/^steps\[1\]: events: 0 items: \[\] \/ \[\{kind: oracleSet, /)],
    ],
    [
      'that time moves back',
      '{ at: +5s }\n  - { at: +4s }',
      ['steps[2]: at: not before now, +5s / an earlier time'],
    ],
    [
      'that time exceeds its range',
      '{ wait: 36525d }\n  - { wait: 36525d }\n  - { wait: 36525d }',
      ['steps[3]: wait: at most until the year 2255 / longer'],
    ],
  ])('%s reports the actual value', (_, step, expected) => {
    expect(failures(`  - ${step}\n`)).toEqual(expected);
  });

  it('on the state hash names both hashes', () => {
    const result = run(`${HEAD}expect: { stateHash: ${'0'.repeat(64)} }`);
    expect(result.passed).toBe(false);
    expect(result.steps.at(-1)?.differences).toEqual([
      { path: 'stateHash', expected: '0'.repeat(64), actual: result.stateHash },
    ]);
  });

  it('does not stop the steps after it', () => {
    const steps = '  - { do: getTime, expect: { status: 1000 } }\n'.replace('1000', '500');
    expect(failures(`${steps}${steps}`)).toHaveLength(2);
  });

  it('shows accounts by name', () => {
    const step = '{ as: alice, do: getBalance, expect: { body: [{ account: bob }] } }';
    expect(failures(`  - ${step}\n`)).toEqual(['steps[1]: body[0].account: bob / alice']);
  });
});

describe('a request', () => {
  it('has defaults for all omitted fields', () => {
    const steps = `  - as: alice
    do: submitOrder
    with: { price: 60000, quantity: 1 }
    expect:
      body:
        - account: alice
          subaccountIndex: 0
          symbol: BTC-USD-PERP
          orderType: limit
          nonce: 1
          expiresAt: 9007199254740991
          originator: "0x0000000000000000000000000000000000000000"
          originatorFee: 0
          clientId: null
          flags: { ioc: false, postOnly: false, reduceOnly: false }
`;
    expect(failures(steps)).toEqual([]);
  });

  it('counts nonces per subaccount, from the highest written', () => {
    const order = (extra: string, nonce: number): string =>
      `  - { as: alice, do: submitOrder, with: { price: 1, quantity: 0.1${extra} }, expect: { body: [{ nonce: ${String(nonce)} }] } }\n`;
    const steps = order('', 1) + order('', 2) + order(', nonce: 7', 7) + order('', 8);
    const other = order(', subaccountIndex: 1', 1);
    const deposit = '  - { deposit: { account: alice, subaccount: 1, amount: 100 } }\n';
    expect(failures(steps + deposit + other)).toEqual([]);
  });

  it('keeps an integer beyond 2^53 exact in requests and responses', () => {
    const step =
      '{ as: alice, do: submitOrder, with: { price: 1, quantity: 0.1, nonce: 9007199254740993 }, expect: { body: [{ nonce: 9007199254740993 }] } }';
    expect(failures(`  - ${step}\n`)).toEqual([]);
  });

  it.each([
    ['a number of forty digits', `price: ${'9'.repeat(40)}`],
    ['not a number', 'price: .nan'],
    ['an exponent', 'price: 1e5'],
    ['a fraction for an integer', 'nonce: 1.5'],
    ['a list', 'price: [1]'],
    ['a prototype key', '__proto__: { price: 1 }'],
    ['null', 'flags: null'],
  ])('with %s is rejected with an error that names the field', (_, field) => {
    const name = field.slice(0, field.indexOf(':'));
    const fields = name === 'price' ? field : `price: 1, ${field}`;
    const step = `{ as: alice, do: submitOrder, with: { quantity: 1, ${fields} }, save: bad }`;
    const [status, body] = failures(`  - ${step}\n`);
    expect(status).toBe('steps[1]: status: 200 / 400');
    expect(body).toContain(`a response / ${name}: `);
  });

  it('without a caller sends no token', () => {
    const step = `{ do: getBalance, with: { account: alice }, expect: { status: 401 } }`;
    expect(failures(`  - ${step}\n`)).toEqual([]);
  });

  it('uses saved responses, and $$ for a literal dollar', () => {
    const steps = `  - { as: alice, do: submitOrder, with: { price: 1, quantity: 0.1, clientId: $$mine }, save: order }
  - { as: alice, do: getOrder, with: { orderId: "$order[0].orderId" }, expect: { body: { clientId: $$mine, nonce: $order.nonce } } }
`;
    expect(failures(steps)).toEqual([]);
  });
});

describe('a reference to a part that the saved answer lacks', () => {
  const order = '{ as: alice, do: submitOrder, with: { price: 1, quantity: 0.1 }, save: order }';
  const lost = '$order.prise: a part of the saved answer / (absent)';

  it.each([
    [
      'of a request',
      'as: bob, do: submitOrder, with: { price: 1, quantity: 1, clientId: $order.prise }',
    ],
    ['of an answer', 'do: getTime, expect: { body: { none: $order.prise } }'],
    ['of an event', 'wait: 1s, expect: { events: [{ kind: $order.prise }] }'],
    [
      'of a position',
      'wait: 1s, expect: { positions: { bob: { BTC-USD-PERP: { none: $order.prise } } } }',
    ],
    [
      'of a repeat',
      'repeat: { times: 1, steps: [] }, expect: { records: { order: { none: $order.prise } } }',
    ],
  ])('%s fails, though nothing is there to compare it with', (_title, step) => {
    const found = failures(`  - ${order}\n  - { ${step} }\n`);
    expect(found[0]).toBe(`steps[2]: ${lost}`);
  });

  it('of the end fails', () => {
    const steps = `  - ${order}\nexpect: { records: { order: { none: $order.prise } } }\n`;
    expect(failures(steps)[0]).toBe(`expect: ${lost}`);
  });
});

it('an exception of the engine is reported at its step', () => {
  const apply: Exchange['apply'] = Reflect.get(Exchange.prototype, 'apply');
  const spy = vi.spyOn(Exchange.prototype, 'apply').mockImplementation(function (
    this: Exchange,
    ...values
  ) {
    if (values[0].kind === 'advanceTime') throw new TypeError('sudden');
    return apply.apply(this, values);
  });
  try {
    const found = failures('  - { wait: 1s }\n  - { wait: 1s }\n');
    expect(found).toEqual(['steps[1]: engine: no exception / sudden']);
  } finally {
    spy.mockRestore();
  }
});

describe('a run', () => {
  it('executes the steps of a repeat each time, and reports the iteration', () => {
    const steps = `  - repeat:
      times: 2
      steps: [{ wait: 1s, expect: { balances: { alice: 0 } } }]
    expect: { balances: { bob: 0 } }
`;
    expect(failures(steps)).toEqual([
      'steps[1].repeat.steps[0] (1 of 2): balances.alice: 0 / 100000',
      'steps[1].repeat.steps[0] (2 of 2): balances.alice: 0 / 100000',
      'steps[1]: balances.bob: 0 / 100000',
    ]);
  });

  it('leaves a complete journal of its commands, without reads', () => {
    const result = run(`${HEAD}  - { wait: 5s, do: getTime }\n  - { do: getMarkets }\n`);
    const reader = new JournalReader(result.journal);
    const kinds = [];
    for (let frame = reader.next(); frame !== null; frame = reader.next()) {
      if (frame.kind === 'command') kinds.push(frame.command.kind);
    }
    expect(kinds).toEqual(['listMarket', 'deposit', 'deposit', 'setIndex', 'advanceTime']);
    expect(reader.ended).toBe(true);
    expect(result.commands).toBe(5);
  });
});

it('follows the cursors of a list to a page', () => {
  const steps = `
  - deposit: { account: alice, amount: 2 }
  - deposit: { account: alice, amount: 3 }
  - as: alice
    do: getTransfers
    with: { limit: 1 }
    page: 2
    expect: { body: [{ amount: 2 }], more: true, keptSince: null }
  - as: alice
    do: getTransfers
    with: { limit: 2 }
    page: 2
    save: last
    expect: { body: [{ amount: 100000 }], more: false }
`;
  expect(failures(steps)).toEqual([]);
});
