/**
 * After a lost connection, compares the positions that a live run has counted with those of the
 * exchange. A fill may be on its way when positions are read, so a difference counts once a second
 * read gives the same one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Resumed } from '../http-client/feed.ts';
import type { MatcherClient } from '../gateway/matcher-client.ts';
import type { LiveGap } from './live-record.ts';
import type { FundingPayments } from './funding-payments.ts';
import type { LiveUpdates } from './live-updates.ts';

/** Between two reads of positions. */
const SETTLE_MS = 1000;
const RETRY_MS = 2000;

export interface ReconcileOptions {
  readonly client: MatcherClient;
  readonly account: string;
  readonly subaccountIndex: number;
  readonly updates: LiveUpdates;
  readonly funding: FundingPayments;
  /** On abort, a gap that is not compared yet is reported as it is. */
  readonly stop: AbortSignal;
  /** Called for each gap in which fills are missing, or may be. */
  readonly onGap: (gap: LiveGap) => void;
}

type Pending = Pick<LiveGap, 'fromUs' | 'toUs' | 'unknownFills'>;

export class Reconcile {
  private readonly options: ReconcileOptions;
  private pending: Pending | null = null;
  private running: Promise<void> | null = null;

  constructor(options: ReconcileOptions) {
    this.options = options;
  }

  /** The connection is there again, and the missed updates are delivered. */
  resumed({ lostMs, resumedMs, unknownFills }: Omit<Resumed, 'unknown'>): void {
    this.pending = {
      fromUs: this.pending?.fromUs ?? lostMs * 1000,
      toUs: resumedMs * 1000,
      unknownFills: this.pending?.unknownFills ?? unknownFills,
    };
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
  }

  /** Resolves once no gap is left to compare; call after `stop`. */
  async end(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    const { stop, onGap } = this.options;
    while (this.pending !== null) {
      const gap: Pending = this.pending;
      const found = await this.compare().catch(() => null);
      // Lost again while it was compared: the next comparison is of the whole time.
      if (this.pending !== gap) continue;
      if (found === null && !stop.aborted) {
        await sleep(RETRY_MS, null, { signal: stop }).catch(() => undefined);
        continue;
      }
      this.pending = null;
      const { positions, balance } = found ?? { positions: [], balance: null };
      const isSure = found !== null && gap.unknownFills === null;
      if (!isSure || positions.length > 0) onGap({ ...gap, positions, balance });
    }
  }

  /** Takes over the positions of the exchange. */
  private async compare(): Promise<Pick<LiveGap, 'positions' | 'balance'>> {
    const { client, account, subaccountIndex, updates, funding, stop } = this.options;
    const read = () => client.call('getPositions', { account, subaccountIndex });
    const first = updates.differences(await read());
    if (first.size > 0) await sleep(SETTLE_MS, null, { signal: stop });
    const held = first.size === 0 ? [] : await read();
    const positions: LiveGap['positions'][number][] = [];
    for (const [symbol, lots] of updates.differences(held)) {
      if (first.get(symbol) !== lots) continue;
      positions.push({ symbol, ...updates.correct(symbol, lots) });
      funding.begin(symbol, held.find((one) => one.symbol === symbol)?.funding ?? '0');
    }
    const [money] = await client.call('getBalance', { account, subaccountIndex });
    return { positions, balance: money?.balance ?? null };
  }
}

/** The gap of a connection that is not there at the end of the run. */
export function gapAtEnd(lostMs: number): LiveGap {
  const unknownFills = 'the run ended without a connection';
  const toUs = Date.now() * 1000;
  return { fromUs: lostMs * 1000, toUs, unknownFills, positions: [], balance: null };
}

/** The gap in a sentence. */
export function gapText({ fromUs, toUs, unknownFills, positions, balance }: LiveGap): string {
  const [from, to] = [fromUs, toUs].map((us) => new Date(us / 1000).toISOString());
  const reason = unknownFills === null ? '' : ` (${unknownFills})`;
  const differing = positions.map(
    ({ symbol, counted, exchange }) => `${symbol}: ${counted} counted, ${exchange} at the exchange`,
  );
  const compared =
    differing.length > 0
      ? `positions differ: ${differing.join('; ')}; the run goes on with those of the exchange`
      : balance === null
        ? 'positions were not compared'
        : 'positions are those of the exchange';
  const money = balance === null ? '' : `; balance ${balance}`;
  const may = positions.length > 0 ? 'are missing' : 'may be missing';
  return `fills from ${String(from)} to ${String(to)} ${may}${reason}; ${compared}${money}`;
}
