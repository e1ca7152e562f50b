/** Faults in a scenario's text are found before the run, each with its place. */
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import { formatProblem } from '../../src/scenario/source-node.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

function faults(text: string): string[] {
  const parsed = parseScenario(text, 'x.yaml', keccak);
  return parsed.ok ? [] : parsed.problems.map((problem) => formatProblem('x.yaml', problem));
}

const HEAD = 'orrery: 1\naccounts: { alice: { deposit: 5 }, bob: {} }\nsteps:\n';

/** A fault in a whole document. */
const DOCUMENTS: readonly [title: string, text: string, fault: string][] = [
  ['an empty file', '', '1:1: is empty'],
  ['a comment alone', '# nothing\n', '1:1: is empty'],
  ['no version', 'steps: []', '1:1: "orrery" is missing'],
  ['no steps', 'orrery: 1', '1:1: "steps" is missing'],
  [
    'another version',
    'orrery: 2\nsteps: []',
    '1:9: orrery: expected the version of the language, from 1 to 1, found 2',
  ],
  [
    'an unknown key near a known one',
    'orrery: 1\nstep: []\nsteps: []',
    '2:1: unknown key "step"; did you mean "steps"?',
  ],
  ['a prototype key', 'orrery: 1\n__proto__: {}\nsteps: []', '2:1: unknown key "__proto__"'],
  ['a constructor key', 'orrery: 1\nconstructor: 1\nsteps: []', '2:1: unknown key "constructor"'],
  [
    'a key twice',
    'orrery: 1\nsteps: []\nsteps: []',
    '3:1: not valid YAML: Map keys must be unique',
  ],
  ['an alias', 'orrery: 1\nsteps: *all', '2:8: steps: aliases are not supported in scenarios'],
  ['an anchor', 'orrery: &v 1\nsteps: []', '1:12: orrery: anchors are not supported in scenarios'],
  [
    'two documents',
    'orrery: 1\nsteps: []\n---\norrery: 1\n',
    '3:1: one file holds one scenario, not several documents',
  ],
  ['steps that are a map', 'orrery: 1\nsteps: {}', '2:8: steps: expected a list, found a map'],
  [
    'an invalid time',
    'orrery: 1\nstart: 2024-02-30T00:00:00Z\nsteps: []',
    '2:8: start: 2024-02-30T00:00:00Z is not a time from 1970 to 2199',
  ],
  [
    'a time in another zone',
    'orrery: 1\nstart: 2024-02-03T00:00:00+01:00\nsteps: []',
    '2:8: start: expected a time such as 2024-01-01T00:00:00Z, found the text "2024-02-03T00:00:00+01:00"',
  ],
  [
    'an unknown market',
    'orrery: 1\nmarkets: [BTC-USD-PREP]\nsteps: []',
    '2:11: markets[0]: BTC-USD-PREP is not a predefined market; did you mean "BTC-USD-PERP"?; give its terms as a map',
  ],
  [
    'a market listed twice',
    'orrery: 1\nmarkets: [BTC-USD-PERP, { symbol: BTC-USD-PERP }]\nsteps: []',
    '2:25: markets[1]: BTC-USD-PERP is listed twice',
  ],
  [
    'a market finer than a quantum, whose steps end in zeros together',
    'orrery: 1\nmarkets:\n  - symbol: X\n    tickSize: 0.00005\n    lotSize: 0.002\nsteps: []',
    "5:5: markets[0]: market.lotSize: tickSize × lotSize = 0.0000001 is finer than the collateral's 6 decimals; it would need 7",
  ],
  [
    'a market finer than a quantum',
    'orrery: 1\nmarkets:\n  - symbol: X\n    tickSize: 0.0001\n    lotSize: 0.0001\nsteps: []',
    "5:5: markets[0]: market.lotSize: tickSize × lotSize = 0.00000001 is finer than the collateral's 6 decimals; it would need 8",
  ],
  [
    'a parameter out of range',
    'orrery: 1\nconfig:\n  selfTradeExpire: 3\nsteps: []',
    '3:3: config: config.selfTradeExpire: must be an integer from 0 to 2',
  ],
  [
    'an account named as the exchange’s own',
    'orrery: 1\naccounts: { vault: {} }\nsteps: []',
    '2:13: accounts.vault: "vault" is a system account; choose another name',
  ],
  [
    'an account whose name is an address',
    'orrery: 1\naccounts: { 0xab: {} }\nsteps: []',
    '2:13: accounts: "0xab" is not an account name',
  ],
  [
    'a deposit finer than a quantum',
    'orrery: 1\naccounts: { alice: { deposit: 0.0000001 } }\nsteps: []',
    '2:31: accounts.alice.deposit: has more than 6 decimals',
  ],
  [
    'a deposit of forty digits',
    `orrery: 1\naccounts: { alice: { deposit: ${'9'.repeat(40)} } }\nsteps: []`,
    `2:31: accounts.alice.deposit: expected an amount of money, found the text "${'9'.repeat(40)}"`,
  ],
  [
    'a deposit that is not a number',
    'orrery: 1\naccounts: { alice: { deposit: .nan } }\nsteps: []',
    '2:31: accounts.alice.deposit: expected an amount of money, found the text ".nan"',
  ],
  [
    'an invariant expected to fail',
    'orrery: 1\nsteps: []\nexpect: { invariants: false }',
    '3:23: expect.invariants: invariants always hold; write true or omit the key',
  ],
  [
    'more steps than the limit',
    'orrery: 1\nsteps:\n  - repeat:\n      times: 10000\n      steps:\n        - repeat: { times: 11, steps: [{ wait: 1s }] }\n',
    '3:3: steps: more than 100000 steps, repeats counted',
  ],
  [
    'more repetitions without steps than the limit',
    'orrery: 1\nsteps: [{ repeat: { times: 10000, steps: [{ repeat: { times: 11, steps: [] } }] } }]',
    '2:8: steps: more than 100000 steps, repeats counted',
  ],
  [
    'more steps of a crowd than the limit',
    `orrery: 1\naccounts: { c: { count: 1000 } }\nsteps:\n${'- { as: c, do: getTime }\n'.repeat(1000)}`,
    '4:1: steps: more than 100000 steps, repeats counted',
  ],
  [
    'a last crowd beyond the limit',
    `orrery: 1\naccounts: { c: { count: 700 } }\nsteps:\n${'- { as: c, do: getTime }\n'.repeat(143)}`,
    '4:1: steps: more than 100000 steps, repeats counted',
  ],
  [
    'more steps of a crowd in nested repeats than the limit',
    'orrery: 1\naccounts: { c: { count: 1000 } }\nsteps: [{ repeat: { times: 11, steps: [{ repeat: { times: 10, steps: [{ as: c, do: getTime }] } }] } }]',
    '3:8: steps: more than 100000 steps, repeats counted',
  ],
  [
    'an account with the name of a crowd’s member',
    'orrery: 1\naccounts: { c: { count: 2 }, c-1: { deposit: 7 } }\nsteps: []',
    '2:13: accounts.c: has a member "c-1", which is another account',
  ],
  [
    'final expectations of nothing',
    'orrery: 1\nsteps: []\nexpect: {}',
    '3:9: expect: an empty map compares nothing; name what is expected',
  ],
  [
    'no check among the checks',
    'orrery: 1\nsteps: []\nexpect: { checks: [] }',
    '3:19: expect.checks: expected 1 to 10000 items, found 0',
  ],
  [
    'an operator command without a market among several',
    'orrery: 1\nmarkets: [BTC-USD-PERP, ETH-USD-PERP]\nsteps: [{ setMarketStatus: { status: halted } }]',
    '3:28: steps[0].setMarketStatus: "symbol" is required, because there are several markets',
  ],
  [
    'an operator command without a market among none',
    'orrery: 1\nmarkets: []\nsteps: [{ delistMarket: { price: 5 } }]',
    '3:25: steps[0].delistMarket: "symbol" is required, because there are no markets',
  ],
];

/** A fault in a step after `HEAD`, so on line 4. */
const STEPS: readonly [title: string, step: string, fault: string][] = [
  [
    'an unknown verb',
    '{ orcale: { BTC-USD-PERP: 1 } }',
    '4:7: steps[0]: unknown key "orcale"; did you mean "oracle"?',
  ],
  [
    'prices of no market',
    '{ oracle: {}, expect: { outcome: market_not_found } }',
    '4:15: steps[0].oracle: expected at least 1 market symbol, found none',
  ],
  [
    'a symbol that is a map',
    '{ setMarketTerms: { symbol: {}, takerFee: 0.001 } }',
    '4:33: steps[0].setMarketTerms.symbol: expected a market symbol',
  ],
  [
    'a status beside a refusal of any status',
    '{ do: getTime, expect: { refused: true, status: 500 } }',
    '4:30: steps[0].expect: "refused" is an error of any status; give "status" or "refused"',
  ],
  [
    'a response that is not refused',
    '{ do: getTime, expect: { refused: false, status: 400 } }',
    '4:39: steps[0].expect.refused: a response is expected to succeed; write true or omit the key',
  ],
  [
    'two verbs',
    '{ oracle: { BTC-USD-PERP: 1 }, do: getTime }',
    '4:7: steps[0]: a step has one action: split "do" and "oracle" into two steps',
  ],
  [
    'an unknown endpoint',
    '{ do: submitOder }',
    '4:11: steps[0].do: the text "submitOder" is not an endpoint; did you mean "submitOrder"?',
  ],
  [
    'an unknown caller',
    '{ as: alcie, do: getTime }',
    '4:11: steps[0].as: "alcie" is not among the accounts of this scenario; did you mean "alice"?',
  ],
  [
    'a caller without a call',
    '{ as: alice, wait: 1s }',
    '4:7: steps[0]: "as" belongs to a step with "do"',
  ],
  ['wait and at', '{ wait: 1s, at: +2s }', '4:17: steps[0]: a step has "wait" or "at", not both'],
  [
    'a length of time without a unit',
    '{ wait: 5 }',
    '4:13: steps[0].wait: expected a length of time such as 5s or 250ms, found 5',
  ],
  [
    'an undefined name',
    '{ as: alice, do: cancelOrder, with: { orderId: $offer.orderId } }',
    '4:52: steps[0].with: no earlier step saves "offer"',
  ],
  [
    'an undefined record',
    '{ wait: 1s, expect: { records: { offer: {} } } }',
    '4:38: steps[0].expect.records: no earlier step saves "offer"',
  ],
  [
    'a response expected of a verb',
    '{ oracle: { BTC-USD-PERP: 1 }, expect: { status: 200 } }',
    '4:46: steps[0].expect: "status" belongs to a step with "do"',
  ],
  [
    'an outcome expected of a call',
    '{ do: getTime, expect: { outcome: ok } }',
    '4:30: steps[0].expect: "outcome" belongs to a step with a simulation verb',
  ],
  [
    'an unknown outcome',
    '{ wait: 1s, expect: { outcome: order_lost } }',
    '4:36: steps[0].expect.outcome: the text "order_lost" is not an outcome of the engine',
  ],
  [
    'a body and an error',
    '{ do: getTime, expect: { body: {}, error: no } }',
    '4:40: steps[0].expect: a response is a "body" or an "error"',
  ],
  [
    'a price in a market that is not listed',
    '{ oracle: { GOLD: 3000 } }',
    '4:17: steps[0].oracle: "GOLD" is not among the markets of this scenario',
  ],
  [
    'a price of 0',
    '{ oracle: { BTC-USD-PERP: 0.01 } }',
    '4:31: steps[0].oracle.BTC-USD-PERP: 0.01 is below one tick of 0.1',
  ],
  [
    'a price with an exponent',
    '{ oracle: { BTC-USD-PERP: 6e4 } }',
    '4:31: steps[0].oracle.BTC-USD-PERP: expected a price, found the text "6e4"',
  ],
  [
    'a recorded price between ticks',
    '{ tapeTrade: { price: 1.05, quantity: 1 } }',
    '4:27: steps[0].tapeTrade.price: 1.05 is not on the tick of 0.1',
  ],
  [
    'a bar of a negative volume',
    '{ tapeBar: { open: 1, high: 1, low: 1, close: 1, volume: -1 } }',
    '4:62: steps[0].tapeBar.volume: must be 0 or more',
  ],
  [
    'an unknown action of a single order',
    '{ tapeL3: { action: ad, ref: 1, side: bid, price: 1, quantity: 1 } }',
    '4:25: steps[0].tapeL3.action: the text "ad" is not an action; did you mean "add"?',
  ],
  [
    'a recorded size between lots',
    '{ tapeDepth: { bids: [[1, 0.00001]] } }',
    '4:31: steps[0].tapeDepth.bids[0]: 0.00001 is not a whole number of lots of 0.0001',
  ],
  [
    'a negative recorded size',
    '{ tapeDepth: { asks: [[1, -1]] } }',
    '4:31: steps[0].tapeDepth.asks[0]: the size of a level must be 0 or more',
  ],
  [
    'a level of three',
    '{ tapeDepth: { bids: [[1, 2, 3]] } }',
    '4:27: steps[0].tapeDepth.bids[0]: expected 2 items, found 3',
  ],
  [
    'a deposit to an unknown account',
    '{ deposit: { account: carol, amount: 1 } }',
    '4:16: steps[0].deposit.account: "carol" is not among the accounts of this scenario',
  ],
  [
    'a deposit of 0',
    '{ deposit: { account: alice, amount: 0 } }',
    '4:42: steps[0].deposit.amount: must be more than 0',
  ],
  [
    'a wait before a repeat',
    '{ wait: 1s, repeat: { times: 1, steps: [] } }',
    '4:7: steps[0]: move "wait" to a step before the "repeat" or within it',
  ],
  [
    'events of a repeat',
    '{ repeat: { times: 1, steps: [] }, expect: { events: [] } }',
    '4:50: steps[0].expect: "events" belongs to a step in the "repeat"',
  ],
  [
    'a signer without an account',
    '{ do: getTime, signer: alice }',
    '4:20: steps[0]: "signer" needs "as", the account',
  ],
  [
    'a signer of a step without a request',
    '{ wait: 1s, signer: alice }',
    '4:17: steps[0]: "signer" belongs to a step with "do"',
  ],
  [
    'a page of an endpoint without lists',
    '{ do: getTime, page: 2 }',
    '4:26: steps[0]: getTime has no pages',
  ],
  [
    'a page of a step without a request',
    '{ wait: 1s, page: 2 }',
    '4:17: steps[0]: "page" belongs to a step with "do"',
  ],
  [
    'a funding rate with too many decimals',
    '{ fundingRate: { BTC-USD-PERP: 0.0000000001 } }',
    '4:36: steps[0].fundingRate.BTC-USD-PERP: must be from -1 to 1 with at most 9 decimals',
  ],
  [
    'a funding rate above 1',
    '{ fundingRate: { BTC-USD-PERP: 1.5 } }',
    '4:36: steps[0].fundingRate.BTC-USD-PERP: must be from -1 to 1 with at most 9 decimals',
  ],
  [
    'a repeat without times',
    '{ repeat: { steps: [] } }',
    '4:15: steps[0].repeat: "times" is missing',
  ],
  [
    'an anchor of a key',
    '&a oracle: { BTC-USD-PERP: 60000 }',
    '4:8: steps[0]: anchors are not supported in scenarios',
  ],
  [
    'a tag of a key',
    '!!str wait: 1s',
    '4:11: steps[0]: the tag tag:yaml.org,2002:str is not supported in scenarios',
  ],
  [
    'no events that may have others beside them',
    '{ wait: 1s, expect: { events: [] } }',
    '4:35: steps[0].expect.events: other events may occur beside these; "exact: true" expects none',
  ],
  ...['records', 'balances', 'positions', 'book'].map((key): [string, string, string] => [
    `an empty map of ${key}`,
    `{ wait: 1s, expect: { ${key}: {} } }`,
    `4:${String(29 + key.length)}: steps[0].expect.${key}: an empty map compares nothing; name what is expected`,
  ]),
  [
    'a subaccount that no account can have',
    '{ wait: 1s, expect: { balances: { alice/2147483648: 0 } } }',
    '4:39: steps[0].expect.balances: subaccount 2147483648 must be at most 2147483647',
  ],
  [
    'no market of positions',
    '{ wait: 1s, expect: { exact: true, positions: { alice: {} } } }',
    '4:60: steps[0].expect.positions.alice: an empty map compares nothing; name what is expected',
  ],
  [
    'no expectation',
    '{ wait: 1s, expect: {} }',
    '4:25: steps[0].expect: compares nothing; name what is expected',
  ],
  [
    'no expectation that is exact',
    '{ wait: 1s, expect: { exact: true } }',
    '4:25: steps[0].expect: compares nothing; name what is expected',
  ],
  [
    'an answer of which nothing is expected',
    '{ do: getTime, expect: { body: {} } }',
    '4:36: steps[0].expect.body: an empty map compares nothing; name what is expected',
  ],
  [
    'an event of any kind',
    '{ wait: 1s, expect: { events: [{ kind: markChanged }, {}] } }',
    '4:59: steps[0].expect.events[1]: an empty map compares nothing; name what is expected',
  ],
  [
    'a further page of an endpoint without lists',
    '{ do: getTime, expect: { more: false } }',
    '4:30: steps[0].expect: "more" belongs to a step that reads a list',
  ],
  [
    'the retention of an endpoint without lists',
    '{ do: getTime, expect: { keptSince: null } }',
    '4:30: steps[0].expect: "keptSince" belongs to a step that reads a list',
  ],
  [
    'a field of an answer of which nothing is expected',
    '{ do: getTime, expect: { body: [{}, { flags: {} }] } }',
    '4:50: steps[0].expect.body[1].flags: an empty map compares nothing; name what is expected',
  ],
  [
    'a reference of the end to no saved answer',
    '{ wait: 1s }\nexpect: { positions: { bob: { BTC-USD-PERP: { a: $none.b } } } }',
    '5:50: expect: no earlier step saves "none"',
  ],
  [
    'no side of a book',
    '{ wait: 1s, expect: { book: { BTC-USD-PERP: {} } } }',
    '4:49: steps[0].expect.book.BTC-USD-PERP: an empty map compares nothing; name what is expected',
  ],
];

it('names a mistake of YAML once, without those that follow from it', () => {
  const rest = 'markets:\n  - BTC-USD-PERP\nsteps:\n  - wait: 1s\n';
  expect(faults(`orrery: 1\naccounts: {} ]\n${rest}`)).toEqual([
    'x.yaml:2:14: not valid YAML: Unexpected flow-seq-end token in YAML stream: "]"',
  ]);
});

describe('an invalid scenario', () => {
  it('reports a saved response of a crowd', () => {
    const text =
      'orrery: 1\naccounts:\n  crowd: { count: 3 }\nsteps:\n  - { as: crowd, do: getTime, save: x }\n';
    expect(faults(text)).toContain(
      'x.yaml:5:31: steps[0]: a crowd has many responses; they cannot be saved',
    );
  });

  it.each(DOCUMENTS)('names %s', (_, text, fault) => {
    expect(faults(text)).toContain(`x.yaml:${fault}`);
  });

  it.each(STEPS)('names %s', (_, step, fault) => {
    expect(faults(`${HEAD}  - ${step}\n`)).toContain(`x.yaml:${fault}`);
  });

  it('reports every fault, not only the first', () => {
    expect(faults(`${HEAD}  - { wiat: 1s }\n  - { do: getTme }\n`)).toHaveLength(2);
  });

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['list marks', '- '.repeat(100_000)],
    ['key marks', '? '.repeat(100_000)],
    ['braces', `{a: ${'{a: '.repeat(50_000)}`],
    ['indents', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['characters', 'x'.repeat(1_000_001)],
    ['control characters', '\u0000\u0001\u0002: [\u0000'],
  ])('is rejected with a place for %s', (_, text) => {
    const [first] = faults(text);
    expect(first).toMatch(/^x\.yaml:\d+:\d+: /);
  });

  it('is rejected with a place when truncated at any character', () => {
    const text = `${HEAD}  - as: alice\n    do: submitOrder\n    with: { price: 1, quantity: "2" }\n`;
    for (let length = 0; length < text.length - 1; length += 1) {
      for (const fault of faults(text.slice(0, length)))
        expect(fault).toMatch(/^x\.yaml:\d+:\d+: /);
    }
  });
});
