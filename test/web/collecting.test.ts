/** Requests that several wallets sign: their text, their signatures, and texts that are refused. */
import { Signature, Wallet } from 'ethers';
import { expect, it } from 'vitest';
import { EIP712_TYPES, eip712Domain } from '../../src/gateway/eip712.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ENDPOINTS, type EndpointId } from '../../src/contract/endpoints.ts';
import {
  accountOf,
  counted,
  merge,
  readText,
  STRUCTS,
  textOf,
  type Collected,
} from '../../src/web/exchange/collecting.ts';
import { fitsSchema } from '../../src/web/exchange/fits-schema.ts';
import { signedFields, signerOf, walletOfKey } from '../../src/web/exchange/wallet.ts';

const CONFIG = {
  domain: eip712Domain(DEFAULT_EXCHANGE_CONFIG),
  types: EIP712_TYPES,
} as unknown as Parameters<typeof counted>[0];
const KEYS = ['1', '2', '3'].map((one) => one.padStart(64, '0'));
const WALLETS = KEYS.map((key) => walletOfKey(key));
const SIGNERS = WALLETS.map(({ address }) => address);
const ACCOUNT = new Wallet(`0x${KEYS[0] ?? ''}`).address.toLowerCase();

const signedBy = (...of: Parameters<typeof counted>): readonly string[] => counted(...of).by;

const BODY = {
  account: ACCOUNT,
  signers: SIGNERS,
  quorum: 2,
  nonce: 7,
  expiresAt: 9_007_199_254_740_991,
};

async function signed(...by: readonly number[]): Promise<Collected> {
  const signatures: string[] = [];
  for (const i of by) {
    const wallet = WALLETS[i];
    if (wallet !== undefined) signatures.push(await wallet.sign(CONFIG, 'Signers', BODY));
  }
  return { endpoint: 'updateSigners', parts: [{ ...BODY, signatures }] };
}

it('a text that is handed over has the same request, and counts distinct signers', async () => {
  const [first, second] = [await signed(0), await signed(1)];
  const read = readText(`https://host/ui#sign=${textOf(first)}\n`);
  expect(read).toEqual(first);
  expect(accountOf(read)).toBe(ACCOUNT);
  expect(signedBy(CONFIG, read, SIGNERS)).toEqual([SIGNERS[0]]);
  const [both] = merge([read], second);
  expect(both).toBeDefined();
  if (both === undefined) return;
  expect(signedBy(CONFIG, both, SIGNERS)).toEqual(SIGNERS.slice(0, 2));
  // Twice the same signature, and one of a wallet that is no signer, count as nothing.
  expect(merge([both], first)).toEqual([both]);
  expect(signedBy(CONFIG, await signed(0, 0, 2), SIGNERS.slice(0, 2))).toEqual([SIGNERS[0]]);
});

it('a field that was changed on the way invalidates the signatures', async () => {
  const of = await signed(0, 1);
  const changed = { ...of, parts: of.parts.map((part) => ({ ...part, quorum: 1 })) };
  expect(signedBy(CONFIG, readText(textOf(changed)), SIGNERS)).toEqual([]);
  // It is another request, so it does not replace the first.
  expect(merge([of], changed)).toHaveLength(2);
});

const encoded = (value: unknown): string =>
  `orrery-request:${btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
const COMMON = { nonce: 1, expiresAt: 9_007_199_254_740_991, signatures: [] };
const OTHER = `0x${'6'.repeat(40)}`;
const THIRD = `0x${'7'.repeat(40)}`;
const PART = {
  ...COMMON,
  accountFrom: ACCOUNT,
  accountTo: ACCOUNT,
  amount: '7.5',
  feedId: `0x${'0'.repeat(64)}`,
  subaccountIndexFrom: 0,
  subaccountIndexTo: 1,
  target: ACCOUNT,
};
const FLAGS = { ioc: false, postOnly: false, reduceOnly: false };
const ORDER = {
  ...COMMON,
  account: ACCOUNT,
  subaccountIndex: 0,
  symbol: 'BTC-USD-PERP',
  orderType: 'limit',
  price: '100',
  quantity: '1',
  originator: `0x${'0'.repeat(40)}`,
  originatorFee: 0,
  flags: FLAGS,
};
const DELEGATE = {
  ...COMMON,
  account: ACCOUNT,
  delegate: OTHER,
  delegated: false,
  subaccountIndex: 0,
};
const MARGIN = {
  ...COMMON,
  account: ACCOUNT,
  isolated: true,
  margin: '0.1',
  subaccountIndex: 0,
  symbol: 'BTC-USD-PERP',
};
const link = (endpoint: string, ...parts: unknown[]): string => encoded({ endpoint, parts });

const BODIES = {
  submitOrder: { ...ORDER, stopLoss: { triggerPrice: '90' }, takeProfit: null },
  transfer: PART,
  updateDelegates: DELEGATE,
  updateMargin: MARGIN,
  updateSigners: { ...BODY, signatures: [] },
} satisfies Partial<Record<EndpointId, unknown>>;

it.each(Object.entries(BODIES))('the fields of %s are what a wallet signs', async (id, body) => {
  const endpoint = id as keyof typeof BODIES;
  const struct = STRUCTS[endpoint] ?? 'Order';
  const [part = {}] = readText(link(endpoint, body)).parts;
  expect(part).toEqual(body);
  const fields = new Map(signedFields(CONFIG, struct, part));
  const { properties } = ENDPOINTS[endpoint].request;
  const signedNames = (EIP712_TYPES[struct] ?? []).map(({ name }) => name);
  expect([...signedNames, 'signatures'].sort()).toEqual(Object.keys(properties).sort());
  expect([...new Set([...fields.keys()].map((path) => path.split('.')[0]))]).toEqual(signedNames);
  // Each field that is shown is signed: another value of it has another signer.
  const signature = (await WALLETS[0]?.sign(CONFIG, struct, part)) ?? '';
  expect(signerOf(CONFIG, struct, part, signature)).toBe(ACCOUNT);
  for (const [name, value] of Object.entries(part)) {
    if (name === 'signatures' || value === null || typeof value === 'object') continue;
    const changed = { string: THIRD, number: 3, boolean: value !== true }[typeof value as 'string'];
    const other = signerOf(CONFIG, struct, { ...part, [name]: changed }, signature);
    expect([name, other === ACCOUNT]).toEqual([name, false]);
  }
});

it('fields that are absent are shown as they are signed', () => {
  const fields = new Map(signedFields(CONFIG, 'Order', BODIES.submitOrder));
  expect(fields.get('stopLoss.triggerPrice')).toBe('90');
  expect(fields.get('takeProfit.triggerPrice')).toBe('');
  expect(fields.get('flags.reduceOnly')).toBe('false');
  expect(fields.get('period')).toBe('0');
});

it.each<[string, string, Record<string, unknown>]>([
  ['a flag as text', 'updateDelegates', { ...DELEGATE, delegated: 'false' }],
  ['a flag as a number', 'updateDelegates', { ...DELEGATE, delegated: 0 }],
  ['flags of an order as text', 'submitOrder', { ...ORDER, flags: { ...FLAGS, ioc: 'false' } }],
  ['a dotted name of a flag', 'submitOrder', { ...ORDER, 'flags.reduceOnly': true }],
  ['a dotted name of a leg', 'submitOrders', { ...ORDER, 'stopLoss.triggerPrice': '90' }],
  ['another name in flags', 'submitOrder', { ...ORDER, flags: { ...FLAGS, hidden: true } }],
  [
    'another name in a leg',
    'submitOrder',
    { ...ORDER, stopLoss: { triggerPrice: '90', 'price.x': '1' } },
  ],
  ['another field', 'transfer', { ...PART, note: 'to your own account' }],
  ['a name of every object', 'transfer', { ...PART, constructor: 'x' }],
  ['a list as text', 'transfer', { ...PART, amount: ['7.5'] }],
  ['an amount as a number', 'transfer', { ...PART, amount: 7.5 }],
  ['a text instead of a list', 'updateSigners', { ...BODY, signatures: [], signers: ACCOUNT }],
  ['flags as a list', 'submitOrder', { ...ORDER, flags: [] }],
  ['a leg as text', 'submitOrder', { ...ORDER, stopLoss: '90' }],
])('refuses a link with %s', (_, endpoint, body) => {
  expect(() => readText(link(endpoint, body))).toThrow('not a request of this exchange');
});

it('a wallet does not sign text in the place of a flag', async () => {
  const body = { ...DELEGATE, delegated: 'false' };
  const attempt = async () => WALLETS[0]?.sign(CONFIG, 'Delegate', body);
  await expect(attempt).rejects.toThrow('delegated must be true or false');
});

it('a checked value fits the schema of the contract, as a validator reads it', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const values = [
    true,
    'false',
    '',
    '1',
    '-1.5',
    OTHER,
    0,
    -1,
    1.5,
    2 ** 31,
    null,
    [],
    [OTHER],
    {},
  ];
  let refused = 0;
  for (const [id, body] of Object.entries(BODIES)) {
    const schema = ENDPOINTS[id as keyof typeof BODIES].request;
    const check = ajv.compile(schema);
    const names = [...Object.keys(schema.properties), 'unknown', 'flags.ioc'];
    for (const name of names) {
      const rest = Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
      for (const one of [rest, ...values.map((value) => ({ ...body, [name]: value }))]) {
        const isRight = check(one);
        if (!isRight) refused += 1;
        expect([one, fitsSchema(schema as never, one)]).toEqual([one, isRight]);
      }
    }
  }
  expect(refused).toBeGreaterThan(300);
  // Integers that JSON rounds, and keywords that are not known, fit nothing.
  expect(fitsSchema({ type: 'integer' }, 2 ** 53)).toBe(false);
  expect(fitsSchema({ type: 'string', contentEncoding: 'base64' }, '')).toBe(false);
});

it('signatures of other wallets take no place of those of signers', async () => {
  const [first, second] = [await signed(0), await signed(1)];
  const junk = Array.from({ length: 16 }, (_one, i) => `0x${String(i + 10).repeat(64)}1b`);
  const junked = (of: Collected): Collected => ({
    ...of,
    parts: of.parts.map((part) => ({ ...part, signatures: junk })),
  });
  const [held] = [readText(textOf(junked(first))), first, second].reduce<readonly Collected[]>(
    merge,
    [],
  );
  expect(held).toBeDefined();
  if (held === undefined) return;
  const { by, of } = counted(CONFIG, readText(textOf(held)), SIGNERS);
  expect(by).toEqual(SIGNERS.slice(0, 2));
  expect(of.parts[0]?.['signatures']).toEqual(
    [first, second].flatMap(({ parts }) => parts[0]?.['signatures']),
  );
});

it('signatures have one form, which every reader takes', async () => {
  const of = await signed(0);
  const [right = ''] = of.parts[0]?.['signatures'] as string[];
  // The last byte of a chain's own form, which the exchange refuses.
  const odd = right.slice(0, -2) + (Signature.from(right).yParity === 0 ? '25' : '26');
  const given = { ...of, parts: [{ ...of.parts[0], signatures: [odd] }] };
  expect(counted(CONFIG, given, SIGNERS)).toEqual({ by: [ACCOUNT], of });
});

it.each<[string, string]>([
  ['nothing', ''],
  ['other text', 'hello, sign this'],
  ['a script', 'javascript:alert(1)'],
  ['no JSON', 'orrery-request:AAAA'],
  ['a list', encoded([])],
  ['an endpoint that is not signed', encoded({ endpoint: 'getTime', parts: [PART] })],
  ['a name of every object', encoded({ endpoint: 'constructor', parts: [PART] })],
  ['no part', encoded({ endpoint: 'transfer', parts: [] })],
  ['two parts of one request', encoded({ endpoint: 'transfer', parts: [PART, PART] })],
  ['a part without signatures', link('transfer', { ...PART, signatures: undefined })],
  [
    'a signature of another form',
    encoded({ endpoint: 'transfer', parts: [{ ...PART, signatures: ['0x12'] }] }),
  ],
  ['orders of two accounts', link('submitOrders', ORDER, { ...ORDER, account: SIGNERS[1] })],
  [
    'a nonce that is no integer',
    encoded({ endpoint: 'transfer', parts: [{ ...PART, nonce: 1e30 }] }),
  ],
  ['a text of a megabyte', `orrery-request:${'A'.repeat(1_000_000)}`],
])('refuses %s', (_, text) => {
  expect(() => readText(text)).toThrow(RangeError);
});
