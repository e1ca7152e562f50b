/** Opens the exchange of a shared journal in PostgreSQL, as leader or follower. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ExchangeConfig } from '../engine/config.ts';
import type { Ticker } from '../replication/ports.ts';
import type { ReplicatedOptions } from '../replication/load-journal.ts';
import { ReplicatedExchange } from '../replication/replicated-exchange.ts';
import { shownAddress } from './address.ts';
import { migrate } from './migrations.ts';
import { PostgresNonces } from './postgres-nonces.ts';
import { PostgresStore } from './postgres-store.ts';
import { snapshotInThread } from './snapshot-client.ts';

/** Interval at which a follower asks for rows. */
const POLL_MS = 20;

export interface PostgresOptions extends Pick<
  ReplicatedOptions,
  'start' | 'create' | 'snapshotEvery' | 'onProblem' | 'leaseMs'
> {
  readonly address: string;
  /** Address of this server for clients; empty if there is none. */
  readonly advertise: string;
  readonly checkConfig: (path: string, found: ExchangeConfig) => void;
  /** Receives what gives up the lead of a start that does not end. */
  readonly onStart: (resign: () => Promise<void>) => void;
}

export interface PostgresExchange {
  readonly exchange: ReplicatedExchange;
  readonly nonces: PostgresNonces;
}

export const TICKER: Ticker = {
  nowMs: () => performance.now(),
  soon: (run) => {
    setImmediate(run);
  },
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Throws `DatabaseError` or `ReplicationError`. */
export async function openPostgresExchange(options: PostgresOptions): Promise<PostgresExchange> {
  const { address, advertise, leaseMs, checkConfig, onStart, ...rest } = options;
  const path = shownAddress(address);
  const where = { address, answerMs: leaseMs };
  const store = new PostgresStore({ ...where, needsPrimary: true });
  onStart(() => store.resignIfLeading());
  try {
    await migrate(store.reads);
    const exchange = await ReplicatedExchange.open({
      ...rest,
      store,
      ticker: TICKER,
      path,
      leaseMs,
      pollMs: POLL_MS,
      self: { holder: `${hostname()}:${String(process.pid)}:${randomUUID()}`, address: advertise },
      checkConfig: (found) => {
        checkConfig(path, found);
      },
      rehearse: (seq, chainHash) => snapshotInThread({ ...where, seq, chainHash }),
    });
    return { exchange, nonces: new PostgresNonces(store.logins) };
  } catch (error) {
    await store.close();
    throw error;
  }
}
