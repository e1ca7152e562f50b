/** Challenges without storage, nonces that are used once across restarts, and rotated secrets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, describe, expect, test } from 'vitest';
import { readSecrets } from '../../src/cli/token-secrets.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { operatorLog } from '../../src/http/operator-log.ts';
import { logClock } from '../../src/http/clock-log.ts';
import { WalletAuth, type Secrets } from '../../src/http/wallet-auth.ts';
import {
  NoncesInMemory,
  NoncesOnDisk,
  type NonceStore,
} from '../../src/journal-files/used-nonces.ts';
import { timeUs } from '../../src/num/units.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-login-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const ANN = new Wallet(`0x${'1'.padStart(64, '0')}`);
const START_US = 1_700_000_000_000_000;
const FIVE_MINUTES_US = 300_000_000;

interface Challenge {
  readonly message: { readonly nonce: string; readonly timestamp: string };
  readonly server_signature: string;
  readonly signing_payload: string;
}

/** An authenticator on a clock of its own. */
function authOf(secrets: Secrets, nonces: NonceStore = new NoncesInMemory()) {
  const clock = { us: START_US };
  const engine = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const auth = new WalletAuth({
    view: () => engine,
    nowUs: () => timeUs(clock.us),
    secrets,
    nonces,
    nonceStoreFails: () => false,
  });
  return { auth, clock };
}
const only = (secret: Uint8Array): Secrets => ({ current: secret, previous: [] });

async function answerTo(auth: WalletAuth): Promise<unknown> {
  const asked = auth.challenge({ account: ANN.address }) as Challenge;
  const { message, server_signature, signing_payload } = asked;
  return { message, server_signature, signature: await ANN.signMessage(signing_payload) };
}
const tokenOf = async (auth: WalletAuth): Promise<string> =>
  ((await auth.login(await answerTo(auth))) as { token: string }).token;

describe('a challenge', () => {
  test('is answered by another process with the same secret, once', async () => {
    const answer = await answerTo(authOf(only(OLD)).auth);
    const { auth } = authOf(only(OLD));
    await auth.login(answer);
    await expect(auth.login(answer)).rejects.toThrow('Failed to consume nonce');
  });

  test('ends after five minutes, and its time cannot be changed', async () => {
    const { auth, clock } = authOf(only(OLD));
    const answer = (await answerTo(auth)) as { readonly message: object };
    clock.us += FIVE_MINUTES_US + 1;
    await expect(auth.login(answer)).rejects.toThrow('Failed to consume nonce');
    const later = new Date(clock.us / 1000).toISOString();
    const changed = { ...answer, message: { ...answer.message, timestamp: later } };
    await expect(auth.login(changed)).rejects.toThrow('server_signature: does not match');
    clock.us -= 1;
    await auth.login(answer);
  });

  test('takes no space: a hundred thousand others do not end it', async () => {
    const { auth } = authOf(only(OLD));
    const answer = await answerTo(auth);
    for (let i = 0; i < 100_001; i++) auth.challenge({ account: `0x${'2'.repeat(40)}` });
    await auth.login(answer);
  });
});

describe('a used nonce', () => {
  test('stays used after a restart, until its challenge expires', async () => {
    const folder = mkdtempSync(join(scratch, 'used-'));
    const first = await NoncesOnDisk.open(folder, START_US / 1000);
    const { auth } = authOf(only(OLD), first);
    const answers = await Promise.all([1, 2, 3].map(() => answerTo(auth)));
    await Promise.all(answers.map((answer) => auth.login(answer)));
    const unused = await answerTo(auth);
    await first.close();

    const second = await NoncesOnDisk.open(folder, START_US / 1000);
    const { auth: restarted } = authOf(only(OLD), second);
    for (const answer of answers) {
      await expect(restarted.login(answer)).rejects.toThrow('Failed to consume nonce');
    }
    await restarted.login(unused);
    await second.close();
    expect(readFileSync(join(folder, 'logins'), 'utf8').match(/[0-9a-f-]{36} \d+/g)).toHaveLength(
      4,
    );
    const third = await NoncesOnDisk.open(folder, (START_US + FIVE_MINUTES_US) / 1000 + 1);
    await third.close();
    expect(readFileSync(join(folder, 'logins'), 'utf8')).toBe('');
  });

  test('of a torn line belongs to no answered login; later lines are read', async () => {
    const folder = mkdtempSync(join(scratch, 'torn-'));
    const nonce = crypto.randomUUID();
    writeFileSync(join(folder, 'logins'), `${crypto.randomUUID()} 17000\n${nonce.slice(0, 9)}`);
    const store = await NoncesOnDisk.open(folder, 1);
    expect(await store.use(nonce, 9_999, 1)).toBe(true);
    await store.close();
    const again = await NoncesOnDisk.open(folder, 1);
    expect(await again.use(nonce, 9_999, 1)).toBe(false);
    await again.close();
  });

  test('that cannot be stored is an error of the contract, and no login', async () => {
    const failing: NonceStore = { use: () => Promise.reject(new Error('disk')) };
    const { auth } = authOf(only(OLD), failing);
    const answer = await answerTo(auth);
    await expect(auth.login(answer)).rejects.toMatchObject({
      status: 500,
      message: 'Failed to store auth nonce',
    });
  });
});

describe('a rotated secret', () => {
  test('leaves tokens and challenges of the one before valid, until that is dropped', async () => {
    const { auth } = authOf(only(OLD));
    const token = await tokenOf(auth);
    const answer = await answerTo(auth);
    await auth.verify(token);
    auth.rotate({ current: NEW, previous: [OLD] });
    expect(auth.cached(token)).toBeNull();
    await auth.verify(token);
    await auth.login(answer);
    const fresh = await tokenOf(auth);
    auth.rotate(only(NEW));
    await expect(auth.verify(token)).rejects.toThrow('Invalid token');
    await auth.verify(fresh);
  });
});

describe('a secret file', () => {
  const read = async (content: string | Uint8Array): Promise<Buffer> => {
    const secretFile = join(scratch, 'secret');
    writeFileSync(secretFile, content);
    const { current } = await readSecrets(
      { secretFile, previousSecretFile: null },
      () => undefined,
    );
    return Buffer.from(current);
  };
  const key = 'k'.repeat(32);

  test.each(['', '\n', '\r\n', '\n\n'])('without the newline %j at its end', async (newline) => {
    expect((await read(key + newline)).toString()).toBe(key);
  });

  test('of bytes is the key as it is', async () => {
    const bytes = new Uint8Array(32).fill(0xff);
    bytes[31] = 0x0a;
    expect(await read(bytes)).toEqual(Buffer.from(bytes));
  });

  test('that is short without its newline is refused', async () => {
    await expect(read(`${'k'.repeat(31)}\n`)).rejects.toThrow(
      'the secret of --secret-file has 31 bytes; at least 32 are required',
    );
  });

  test('before the current one is read too', async () => {
    const previousSecretFile = join(scratch, 'previous');
    writeFileSync(previousSecretFile, `${'p'.repeat(32)}\n`);
    writeFileSync(join(scratch, 'secret'), key);
    const { previous } = await readSecrets(
      { secretFile: join(scratch, 'secret'), previousSecretFile },
      () => undefined,
    );
    expect(previous.map((secret) => Buffer.from(secret).toString())).toEqual(['p'.repeat(32)]);
  });

  test('before the current one may be absent, but not unreadable', async () => {
    const secretFile = join(scratch, 'secret');
    writeFileSync(secretFile, key);
    const absent = join(scratch, 'none');
    const events: string[] = [];
    const found = await readSecrets({ secretFile, previousSecretFile: absent }, (event, text) => {
      events.push(`${event}: ${text}`);
    });
    expect(found.previous).toEqual([]);
    expect(events).toEqual([
      `previous_secret_absent: no previous secret: there is no file ${absent}`,
    ]);
    const inFile = join(secretFile, 'none');
    const refused = readSecrets({ secretFile, previousSecretFile: inFile }, () => undefined);
    await expect(refused).rejects.toThrow('a component of the path is not a folder');
    await expect(
      readSecrets({ secretFile: absent, previousSecretFile: null }, () => undefined),
    ).rejects.toThrow('no such file');
  });
});

test('a system clock behind the exchange is reported once, and its return', () => {
  const lines: string[] = [];
  const host = { clockBehindMs: 3_600_000, nowUs: () => START_US };
  logClock(
    host as never,
    operatorLog('text', (line) => lines.push(line)),
  )();
  expect(lines).toEqual([
    'orrery: WARNING: the system clock is 3600.0 s behind the time of the exchange, which stands still until 2023-11-14T22:13:20.000Z',
  ]);
  lines.length = 0;
  host.clockBehindMs = 900;
  logClock(
    host as never,
    operatorLog('text', (line) => lines.push(line)),
  )();
  expect(lines).toEqual([]);
});
