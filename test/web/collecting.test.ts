/** Requests that several wallets sign: their text, their signatures, and texts that are refused. */
import { Wallet } from 'ethers';
import { expect, it } from 'vitest';
import { EIP712_TYPES, eip712Domain } from '../../src/gateway/eip712.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/market-config.ts';
import {
  accountOf,
  merge,
  readText,
  signedBy,
  textOf,
  type Collected,
} from '../../src/web/exchange/collecting.ts';
import { walletOfKey } from '../../src/web/exchange/wallet.ts';

const CONFIG = {
  domain: eip712Domain(DEFAULT_EXCHANGE_CONFIG),
  types: EIP712_TYPES,
} as unknown as Parameters<typeof signedBy>[0];
const KEYS = ['1', '2', '3'].map((one) => one.padStart(64, '0'));
const WALLETS = KEYS.map((key) => walletOfKey(key));
const SIGNERS = WALLETS.map(({ address }) => address);
const ACCOUNT = new Wallet(`0x${KEYS[0] ?? ''}`).address.toLowerCase();

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
const PART = { account: ACCOUNT, nonce: 1, signatures: [] };

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
  ['a part without signatures', encoded({ endpoint: 'transfer', parts: [{ nonce: 1 }] })],
  [
    'a signature of another form',
    encoded({ endpoint: 'transfer', parts: [{ ...PART, signatures: ['0x12'] }] }),
  ],
  [
    'orders of two accounts',
    encoded({ endpoint: 'submitOrders', parts: [PART, { ...PART, account: SIGNERS[1] }] }),
  ],
  [
    'a nonce that is no integer',
    encoded({ endpoint: 'transfer', parts: [{ ...PART, nonce: 1e30 }] }),
  ],
  ['a text of a megabyte', `orrery-request:${'A'.repeat(1_000_000)}`],
])('refuses %s', (_, text) => {
  expect(() => readText(text)).toThrow(RangeError);
});
