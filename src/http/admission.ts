/**
 * Limits of callers: requests by account or address, and received bytes. Every request
 * counts, whatever its answer: failed tokens, unknown paths and malformed messages too.
 *
 * A refusal is answered at once up to `PROMPT_REFUSALS`. Later ones wait for the end of the
 * cool-down, so that a client that repeats without a pause costs little.
 */
import { MESSAGES } from '../contract/messages.ts';
import { RequestError } from '../gateway/request-error.ts';
import { RateLimit } from './rate-limit.ts';
import { TokenBuckets } from './token-buckets.ts';

/** Limit of the control tokens, as a multiple of that of an account. */
const WIDE = 10;
const PROMPT_REFUSALS = 20;
const COOL_DOWN_MS = 1000;
/** Later refusals end at different times: their connections would all be read in one turn. */
const SPREAD = 64;
const SPREAD_MS = 8;
/** Bytes per second of an account, and of an address without a token. */
const ACCOUNT_BYTES = 16_777_216;
const ADDRESS_BYTES = 2_097_152;
/** Pace of the large messages of all feeds: two of different connections do not share a turn. */
const LARGE_BYTES_PER_MS = 16_384;

/** `wide`: simulation control and the operator. `probe`: health probes, by connection. */
export type Rate = 'caller' | 'wide' | 'probe';

export class Admission {
  private readonly rates: Readonly<Record<Rate, RateLimit>>;
  private readonly bytes = {
    account: new TokenBuckets(ACCOUNT_BYTES),
    address: new TokenBuckets(ADDRESS_BYTES),
  };
  private readonly nowUs: () => number;
  private largeFromMs = 0;
  /** Requests refused since the start. */
  refused = 0;

  constructor(requestsPerSecond: number, nowUs: () => number) {
    this.rates = {
      caller: new RateLimit(requestsPerSecond),
      wide: new RateLimit(requestsPerSecond * WIDE),
      probe: new RateLimit(requestsPerSecond),
    };
    this.nowUs = nowUs;
  }

  /**
   * Counts a request. Returns null if it is within the limit, otherwise the delay of its refusal in
   * milliseconds.
   */
  refusalOf(caller: string, rate: Rate = 'caller', cost = 1): number | null {
    const limit = this.rates[rate];
    if (limit.accepts(caller, this.nowUs(), cost)) return null;
    this.refused += 1;
    const later = limit.refusals(caller) - PROMPT_REFUSALS;
    return later <= 0 ? 0 : COOL_DOWN_MS + ((later - 1) % SPREAD) * SPREAD_MS;
  }

  /** Time from which a large message of a feed may pass; the next one passes after it. */
  turnOfLarge(nowMs: number, bytes: number): number {
    const fromMs = Math.max(nowMs, this.largeFromMs);
    this.largeFromMs = fromMs + bytes / LARGE_BYTES_PER_MS;
    return fromMs;
  }

  /** Counts received bytes; false if the caller has sent too many. */
  takesBytes(caller: string, isAccount: boolean, bytes: number): boolean {
    return this.bytes[isAccount ? 'account' : 'address'].takes(caller, bytes, this.nowUs());
  }
}

export function tooManyRequests(): RequestError {
  return new RequestError(MESSAGES.tooManyRequests);
}
