/**
 * Orders for the API benches: from 200 accounts, ioc without a counterparty, so that books stay
 * empty; signed in advance.
 */
import type { Request } from 'autocannon';
import { getBytes, SigningKey, Wallet } from 'ethers';
import secp256k1 from 'secp256k1';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { recover } from '../../../src/wallet/recover-signer.ts';
import { TypedData } from '../../../src/wallet/typed-data.ts';
import { tokenOf, type Server } from './processes.ts';

const ACCOUNTS = 200;
export const SYMBOL = 'BTC-USD-PERP';
export const JSON_TYPE = { 'content-type': 'application/json' };
const typedData = new TypedData(DEFAULT_EXCHANGE_CONFIG);

const wallets = Array.from({ length: ACCOUNTS }, (_, i) => {
  const secret = `0x${(i + 1).toString(16).padStart(64, '0')}`;
  return { secret, address: new Wallet(secret).address.toLowerCase() };
});
const tokens = await Promise.all(wallets.map(({ address }) => tokenOf(address)));

/** Prices and deposits, so that orders are accepted. */
export async function fund(server: Server): Promise<void> {
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  for (const { address } of wallets) {
    await server.sim('deposit', { account: address, amount: '1000000' });
  }
}

/** A read of one order, which now rests on the book. */
export async function askedOrder(server: Server): Promise<Request> {
  const { address } = wallets[0]!;
  const headers = { ...JSON_TYPE, authorization: `Bearer ${tokens[0]!}` };
  const flags = { ioc: false, postOnly: false, reduceOnly: false };
  const resting = { price: '55000', flags, clientId: 'asked', nonce: 2 };
  const body = JSON.stringify({ ...orderBody(0), ...resting });
  const answer = await fetch(`${server.url}/account/order`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  return { path: `/account/order?account=${address}&clientId=asked`, headers };
}

/** The i-th order overall. */
function orderBody(i: number): Record<string, unknown> {
  return {
    account: wallets[i % ACCOUNTS]!.address,
    subaccountIndex: 0,
    symbol: SYMBOL,
    orderType: 'Limit',
    price: '59000',
    quantity: '0.001',
    nonce: i + 1,
    expiresAt: 9_007_199_254_740_991,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: true, postOnly: false, reduceOnly: false },
    signatures: [] as string[],
  };
}

function digestOf(body: Readonly<Record<string, unknown>>): Uint8Array {
  return getBytes(typedData.digestOf('Order', body));
}

function signedBody(i: number): string {
  const body = orderBody(i);
  const secret = getBytes(wallets[i % ACCOUNTS]!.secret);
  const { signature, recid } = secp256k1.ecdsaSign(digestOf(body), secret);
  const v = recid === 0 ? '1b' : '1c';
  return JSON.stringify({ ...body, signatures: [Buffer.from(signature).toString('hex') + v] });
}

/** Requests with these bodies in sequence, each sent once. */
function posting(bodyOf: (i: number) => string): Request {
  let next = 0;
  return {
    method: 'POST',
    path: '/account/order',
    setupRequest: (request) => {
      const i = next++;
      const authorization = `Bearer ${tokens[i % ACCOUNTS]!}`;
      return { ...request, body: bodyOf(i), headers: { ...JSON_TYPE, authorization } };
    },
  };
}

export const unsignedOrders = (): Request => posting((i) => JSON.stringify(orderBody(i)));

/** The unsigned orders, for the echo that answers as many bytes as an exchange. */
export function orderEcho(): Request {
  return { ...posting((i) => JSON.stringify(orderBody(i))), path: '/order' };
}

/** After all were sent, repeats are refused for their used nonces. */
export function signedOrders(count: number): Request {
  const bodies = Array.from({ length: count }, (_, i) => signedBody(i));
  return posting((i) => bodies[i % count]!);
}

/** Signers that native code recovers per second on this core. */
export function recoversPerSecond(milliseconds: number): number {
  const digest = digestOf(orderBody(0));
  const { serialized } = new SigningKey(wallets[0]!.secret).sign(digest);
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < milliseconds; done++) recover(digest, serialized);
  return (done / (performance.now() - started)) * 1000;
}
