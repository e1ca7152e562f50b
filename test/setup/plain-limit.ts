import type { NewOrder } from '../../src/engine/commands.ts';
import { marketId, ppm } from '../../src/num/units.ts';

/** An expiry beyond every clock, in milliseconds. */
export const NEVER_MS = 9_007_199_254_741n;

/** Default terms of a limit order on the first market; a test adds owner, size, price and nonce. */
export const PLAIN_LIMIT = {
  market: marketId(0),
  orderType: 'limit',
  ioc: false,
  postOnly: false,
  reduceOnly: false,
  expiresAtMs: NEVER_MS,
  clientId: null,
  originator: null,
  originatorFeePpm: ppm(0),
} as const satisfies Partial<NewOrder>;
