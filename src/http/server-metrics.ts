/** Prometheus metrics of /metrics. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Host } from './exchange-host.ts';
import { holders } from './holders.ts';
import { RequestCounts } from './request-counts.ts';
import { riskMetrics } from './risk-metrics.ts';

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests: RequestCounts;
  private readonly syncs: Histogram;
  private readonly host: Host;
  private lastSync = 0;
  private scrape: Promise<string> | null = null;

  constructor(host: Host) {
    const registers = [this.registry];
    this.host = host;
    this.syncs = new Histogram({
      name: 'orrery_sync_duration_seconds',
      help: 'Sync time of a group of commands, as seen by waiting replies',
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5],
      registers,
    });
    collectDefaultMetrics({ register: this.registry });
    this.requests = new RequestCounts(this.registry);
    const gauge = this.gauge.bind(this);
    const { exchange } = host;
    gauge('orrery_commands', 'Sequence number of the last command', () => exchange.engine.seq);
    gauge('orrery_journal_bytes', 'Bytes of the journal on disk', () => exchange.journalBytes);
    gauge('orrery_sync_seconds', 'Time of the last sync', () => exchange.lastSyncSeconds);
    gauge('orrery_waiting_answers', 'Replies that wait for the disk', () => exchange.waiting);
    gauge('orrery_writes_stopped', '1 while writes are stopped', () =>
      exchange.failure === null ? 0 : 1,
    );
    gauge('orrery_clock_behind_seconds', 'System clock behind the time of the exchange', () => {
      return host.clockBehindMs / 1000;
    });
    const { snapshots } = exchange;
    gauge('orrery_snapshot_commands', 'Last command of the last snapshot', () => snapshots.seq);
    gauge('orrery_snapshot_seconds', 'Duration of the last snapshot, in its own thread', () => {
      return snapshots.seconds;
    });
    gauge('orrery_snapshot_failures', 'Failed snapshots', () => snapshots.failures);
    gauge('orrery_state_mismatch', '1 once the journal replays to a different state', () =>
      snapshots.mismatch ? 1 : 0,
    );
    if (exchange.replica !== null) {
      gauge('orrery_leads', '1 while this server leads', () =>
        exchange.replica?.role === 'leader' ? 1 : 0,
      );
      gauge('orrery_epoch', 'Epoch of the leader', () => exchange.replica?.epoch ?? 0);
      gauge('orrery_lag_seconds', 'Lag of a follower behind the journal', () => {
        return (exchange.replica?.lagMs ?? 0) / 1000;
      });
    }
    riskMetrics(host, registers);
    perMarket(host, registers);
    equityAtRisk(host, registers);
  }

  answered(route: string, status: number, milliseconds: number): void {
    this.requests.add(route, status, milliseconds / 1000);
    this.noteSync();
  }

  /** A reply has waited for the sync before it; its duration is recorded once. */
  private noteSync(): void {
    const { lastSyncSeconds } = this.host.exchange;
    if (lastSyncSeconds === this.lastSync) return;
    this.lastSync = lastSyncSeconds;
    this.syncs.observe(lastSyncSeconds);
  }

  countConnections(all: () => number, feeds: () => number): void {
    this.gauge('orrery_connections', 'Open connections, feeds included', all);
    this.gauge('orrery_feed_connections', 'Open WebSocket connections', feeds);
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Scrapes at the same time share one pass over the exchange. */
  text(): Promise<string> {
    this.scrape ??= this.registry.metrics().finally(() => {
      this.scrape = null;
    });
    return this.scrape;
  }
}

function perMarket(host: Host, registers: Registry[]): void {
  new Gauge({
    name: 'orrery_open_interest_lots',
    help: 'Lots of all long positions, by market',
    labelNames: ['symbol'],
    registers,
    collect() {
      for (const { spec, openInterestLots } of host.view.markets()) {
        this.set({ symbol: spec.symbol }, openInterestLots);
      }
    },
  });
  new Gauge({
    name: 'orrery_book_levels',
    help: 'Price levels of the book, by market and side',
    labelNames: ['symbol', 'side'],
    registers,
    collect() {
      for (const { id, spec } of host.view.markets()) {
        for (const side of ['bid', 'ask'] as const) {
          this.set({ symbol: spec.symbol, side }, host.view.levelCount(id, side));
        }
      }
    },
  });
}

/** Equity buckets, as multiples of the maintenance requirement. */
const MULTIPLES = [1.1, 1.5, 2, Infinity];
/** Accounts per event-loop turn, so that a scrape does not block requests. */
const ACCOUNTS_A_TURN = 500;

/** Account value of users with open positions, by its ratio to the maintenance requirement. */
function equityAtRisk(host: Host, registers: Registry[]): void {
  new Gauge({
    name: 'orrery_equity_at_risk_usd',
    help: 'Account value of users with positions, by multiple of the maintenance requirement',
    labelNames: ['below'],
    registers,
    async collect() {
      const sums = MULTIPLES.map(() => 0);
      let looked = 0;
      for (const id of holders(host.view)) {
        looked += 1;
        if (looked % ACCOUNTS_A_TURN === 0) await new Promise(setImmediate);
        const margin = host.view.margin(id);
        const value = Number(margin.accountValueQuanta) / 1e6;
        const maintenance = Number(margin.maintenanceRequirementQuanta) / 1e6;
        for (const [i, multiple] of MULTIPLES.entries()) {
          if (multiple === Infinity || value < multiple * maintenance)
            sums[i] = (sums[i] ?? 0) + Math.max(0, value);
        }
      }
      for (const [i, multiple] of MULTIPLES.entries()) {
        this.set({ below: multiple === Infinity ? '+Inf' : String(multiple) }, sums[i] ?? 0);
      }
    },
  });
}
