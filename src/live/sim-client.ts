/** Simulation control of a served exchange (/sim/*), as far as a live run needs it. */
import { StrategyError } from '../strategy/definition.ts';
import type { ReplayStatus } from './replay-options.ts';

export interface SimAccess {
  readonly url: string;
  readonly token: string;
}

/** The replay of the exchange; null if it has none. Rejects with `StrategyError`. */
export async function readReplay(access: SimAccess): Promise<ReplayStatus | null> {
  const { status, text } = await request(access, 'replay', null);
  if (status === 200) return JSON.parse(text) as ReplayStatus;
  if (status === 400) return null;
  throw new StrategyError(`${access.url}/sim/replay: ${text}`);
}

/** `amount`: decimal text. Rejects with `StrategyError`. */
export async function deposit(
  access: SimAccess,
  account: string,
  subaccountIndex: number,
  amount: string,
): Promise<void> {
  const { status, text } = await request(access, 'deposit', { account, subaccountIndex, amount });
  if (status !== 200) throw new StrategyError(`--deposit ${amount}: ${text}`);
}

async function request(
  { url, token }: SimAccess,
  path: string,
  body: Readonly<Record<string, unknown>> | null,
): Promise<{ status: number; text: string }> {
  const target = `${url.replace(/\/+$/, '')}/sim/${path}`;
  const answer = await fetch(target, {
    method: body === null ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new StrategyError(`${target}: ${(error as Error).message}`);
  });
  return { status: answer.status, text: await answer.text() };
}
