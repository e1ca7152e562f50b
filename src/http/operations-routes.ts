/** Reads of an operator: the state of the server, and accounts near liquidation (docs/API.md). */
import { statfsSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { MESSAGES } from '../contract/messages.ts';
import { Fields } from '../gateway/fields.ts';
import { millis, money, ratioText } from '../gateway/encode.ts';
import type { SubaccountId } from '../num/units.ts';
import type { Admission } from './admission.ts';
import type { Host } from './exchange-host.ts';
import type { FeedLoad } from './feeds/feed-server.ts';
import { holders } from './holders.ts';
import { sendBody, sendError } from './replies.ts';

/** Accounts per event-loop turn, so that a scan does not block requests. */
const ACCOUNTS_A_TURN = 500;
/** Requests within this time share one scan. */
const KEPT_MS = 1000;
const MAX_LISTED = 500n;
const DEFAULT_LISTED = 50;

export interface OperationsOptions {
  readonly host: Host;
  readonly token: string;
  readonly admission: Admission | null;
  readonly connections: () => number;
  readonly feeds: () => FeedLoad;
}

interface AtRisk {
  readonly id: SubaccountId;
  readonly equity: bigint;
  readonly maintenance: bigint;
}

/** Accounts with positions, the smallest ratio of equity to maintenance margin first. */
class RiskScan {
  private readonly host: Host;
  private latest: { readonly atMs: number; readonly found: Promise<readonly AtRisk[]> } | null =
    null;

  constructor(host: Host) {
    this.host = host;
  }

  read(): Promise<readonly AtRisk[]> {
    const nowMs = performance.now();
    if (this.latest === null || nowMs - this.latest.atMs > KEPT_MS) {
      this.latest = { atMs: nowMs, found: this.scan() };
    }
    return this.latest.found;
  }

  private async scan(): Promise<readonly AtRisk[]> {
    const found: AtRisk[] = [];
    let scanned = 0;
    for (const id of holders(this.host.view)) {
      scanned += 1;
      if (scanned % ACCOUNTS_A_TURN === 0) await new Promise(setImmediate);
      const margin = this.host.view.margin(id);
      const maintenance = margin.maintenanceRequirementQuanta;
      if (maintenance > 0n) found.push({ id, equity: margin.accountValueQuanta, maintenance });
    }
    return found.sort((a, b) => {
      const difference = a.equity * b.maintenance - b.equity * a.maintenance;
      return difference === 0n ? a.id - b.id : difference < 0n ? -1 : 1;
    });
  }
}

export function operationsRoutes(app: FastifyInstance, options: OperationsOptions): void {
  const { host, token } = options;
  const access = { config: { access: { control: { token, refusal: MESSAGES.operatorToken } } } };
  const scan = new RiskScan(host);
  app.get('/operator/accounts', access, async (request, reply) => {
    try {
      const fields = new Fields(request.query, ['limit'], true);
      const asked = fields.has('limit') ? fields.integer('limit') : BigInt(DEFAULT_LISTED);
      if (asked < 1n || asked > MAX_LISTED) {
        fields.fail('limit', `must be from 1 to ${String(MAX_LISTED)}`);
      }
      host.catchUp();
      const found = await scan.read();
      const accounts = found.slice(0, Number(asked)).map((one) => encodeRisk(host, one));
      await host.exchange.durable();
      return await sendBody(reply, { accounts, holders: found.length });
    } catch (error) {
      return sendError(reply, error);
    }
  });
  app.get('/operator/status', access, (_request, reply) => {
    host.catchUp();
    const { exchange, view } = host;
    const { snapshots } = exchange;
    const { connections, slowReaders, backlogBytes } = options.feeds();
    return sendBody(reply, {
      sequenceNumber: view.seq,
      time: millis(host.nowUs()),
      uptimeSeconds: Math.floor(process.uptime()),
      memoryBytes: process.memoryUsage.rss(),
      writesStopped: exchange.failure !== null,
      waitingReplies: exchange.waiting,
      lastSyncSeconds: exchange.lastSyncSeconds,
      clockBehindMs: host.clockBehindMs,
      journalBytes: exchange.journalBytes,
      diskFreeBytes: exchange.replica === null ? freeBytes(exchange.path) : null,
      snapshot: {
        sequenceNumber: snapshots.seq,
        failures: snapshots.failures,
        mismatch: snapshots.mismatch,
      },
      connections: options.connections(),
      feedConnections: connections,
      slowReaders,
      feedBacklogBytes: backlogBytes,
      requestsPerSecond: host.requestsPerSecond,
      rateRefusals: options.admission?.refused ?? 0,
    });
  });
}

function encodeRisk({ view }: Host, { id, equity, maintenance }: AtRisk) {
  const { account, index } = view.subaccount(id);
  return {
    account: view.addressOf(account),
    subaccountIndex: index,
    equity: money(equity),
    maintenanceMargin: money(maintenance),
    ratio: equity <= 0n ? '0' : ratioText(equity, maintenance),
    positions: view.positions(id).map(({ market }) => view.market(market).spec.symbol),
  };
}

/** null if the file system does not say. */
function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}
