/**
 * Signer recovery on worker threads: the same replies in the same order as without them.
 */
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address } from '../../src/num/units.ts';
import { recover } from '../../src/wallet/recover-signer.ts';
import { RecoveryPool } from '../../src/wallet/recovery-pool.ts';
import { TypedData } from '../../src/wallet/typed-data.ts';
import { RECOVERY_WORKER, Served } from './served.ts';

const typed = new TypedData(DEFAULT_EXCHANGE_CONFIG);
const ANN = new Wallet(`0x${'1'.padStart(64, '0')}`);
const EVE = new Wallet(`0x${'2'.padStart(64, '0')}`);
const AS_ANN = {
  account: address(ANN.address.toLowerCase()),
  signer: address(ANN.address.toLowerCase()),
};

let nonce = 0;
async function signed(by: Wallet, changes: Record<string, unknown> = {}) {
  nonce += 1;
  const body = {
    account: ANN.address,
    subaccountIndex: 0,
    symbol: 'BTC-USD-PERP',
    orderType: 'Limit',
    price: '50000.0',
    quantity: '0.001',
    nonce,
    expiresAt: Number.MAX_SAFE_INTEGER,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: false, postOnly: false, reduceOnly: false },
    clientId: `c-${String(nonce)}`,
    ...changes,
  };
  const { domain, types, message } = typed.payloadOf('Order', body);
  return { ...body, signatures: [await by.signTypedData(domain, types, message)] };
}

/** A pool with started threads: batches of two are recovered there. */
async function startedPool(): Promise<RecoveryPool> {
  const pool = new RecoveryPool(1, RECOVERY_WORKER);
  for (;;) {
    const digest = new Uint8Array(32).fill(1);
    const { serialized } = ANN.signingKey.sign(digest);
    const found = await Promise.all([
      pool.recover(digest, serialized),
      pool.recover(digest, serialized),
    ]);
    if (found.every((one) => one !== null)) return pool;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the pool', () => {
  test('finds the same signers as the serving thread, and null for an invalid signature', async () => {
    const pool = await startedPool();
    const jobs = Array.from({ length: 200 }, (_, i) => {
      const digest = new Uint8Array(32).fill(i);
      const { serialized } = (i % 2 === 0 ? ANN : EVE).signingKey.sign(digest);
      return { digest, signature: i % 7 === 0 ? 'none' : serialized };
    });
    const found = await Promise.all(
      jobs.map(async ({ digest, signature }) => pool.recover(digest, signature)),
    );
    expect(found).toEqual(
      jobs.map(({ digest, signature }) => ({ signer: recover(digest, signature) })),
    );
    await pool.close();
  });

  test('returns null for a lone signature, and for all after it is closed', async () => {
    const pool = await startedPool();
    const digest = new Uint8Array(32);
    const { serialized } = ANN.signingKey.sign(digest);
    expect(await pool.recover(digest, serialized)).toBeNull();
    const last = pool.recover(digest, serialized);
    await pool.close();
    expect(await last).toBeNull();
    expect(pool.recover(digest, serialized)).toBeNull();
    expect(new RecoveryPool(0).recover(digest, serialized)).toBeNull();
  });
});

describe('served', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.start({ signatures: 'verify', verifyThreads: 1 });
    await served.sim('deposit', { account: ANN.address, amount: '1000000' });
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  });
  afterAll(() => served.remove());

  test('concurrent orders: signed ones are accepted; a wrong or invalid signature is rejected with the same text', async () => {
    for (let round = 0; round < 5; round++) {
      const bodies = await Promise.all(
        Array.from({ length: 30 }, (_, i) => signed(i % 3 === 0 ? EVE : ANN)),
      );
      const mistyped = { ...bodies[1], nonce: 'one', symbol: { toString: 1 } };
      const deep = { ...bodies[2], signatures: Array.from({ length: 17 }, () => 'x') };
      const answers = await Promise.all(
        [...bodies, mistyped, deep].map((body) => served.call('submitOrder', body, AS_ANN)),
      );
      const [wrong, many] = answers.splice(30);
      expect(wrong!.status).toBe(400);
      expect(many!.text).toContain('signatures');
      for (const [i, answer] of answers.entries()) {
        if (i % 3 === 0) expect(answer).toMatchObject({ status: 403, text: '"Invalid signature"' });
        else expect(answer.status).toBe(200);
      }
    }
  });

  test('a batch is atomic', async () => {
    const [a, b, c] = [await signed(ANN), await signed(ANN), await signed(EVE)];
    const [taken, refused] = await Promise.all([
      served.call('submitOrders', { orders: [a, b] }, AS_ANN),
      served.call('submitOrders', { orders: [await signed(ANN), c] }, AS_ANN),
    ]);
    expect(taken.status).toBe(200);
    expect(refused.status).toBe(403);
  });

  test('over one socket, requests after a signed order run after it', async () => {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const answers = new Map<number, { error?: { message: string } }>();
    const done = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const answer = JSON.parse(data.toString()) as {
          id: number;
          error?: { message: string };
        };
        answers.set(answer.id, answer);
        if (answers.size === 91) resolve();
      });
    });
    const bearer = await served.token(AS_ANN);
    const orders = await Promise.all(Array.from({ length: 30 }, () => signed(ANN)));
    let id = 0;
    const ask = (method: string, params: unknown): void => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }));
    };
    ask('auth', { bearer });
    for (const body of orders) {
      ask('create', body);
      // A login in between takes time; later requests still wait for it.
      ask('auth', { bearer });
      ask('cancel', { account: ANN.address, clientId: body.clientId });
    }
    await done;
    socket.close();
    for (const answer of answers.values()) expect(answer.error).toBeUndefined();
  });
});
