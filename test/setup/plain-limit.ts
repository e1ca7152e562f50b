import type { NewOrder } from '../../src/engine/commands.ts';
import { marketId, ppm } from '../../src/num/units.ts';

/** Past every clock: an order that never expires, in milliseconds. */
export const NEVER_MS = 9_007_199_254_741n;

/** Terms of a limit order on the first market that a test leaves as they are; whose it is, size, price and nonce are the test's. */
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
