/** State of the screen of operations: health, server status, accounts at risk, audit list. */
import { signal } from '@preact/signals';
import { config } from './markets.ts';
import { ask, call, Refused } from './requests.ts';
import { operatorToken } from './session.ts';

export interface AuditEntry {
  readonly sequenceNumber: number;
  readonly time: number;
  readonly command: string;
  readonly symbol: string | null;
  readonly account: string | null;
  readonly amount: string | null;
  readonly status: string | null;
  readonly price: string | null;
}
export interface ServerStatus {
  readonly uptimeSeconds: number;
  readonly memoryBytes: number;
  readonly waitingReplies: number;
  readonly lastSyncSeconds: number;
  readonly clockBehindMs: number;
  readonly journalBytes: number;
  readonly diskFreeBytes: number | null;
  readonly snapshot: {
    readonly sequenceNumber: number;
    readonly failures: number;
    readonly mismatch: boolean;
  };
  readonly connections: number;
  readonly feedConnections: number;
  readonly slowReaders: number;
  readonly feedBacklogBytes: number;
  readonly requestsPerSecond: number | null;
  readonly rateRefusals: number;
}
export interface AtRisk {
  readonly account: string;
  readonly subaccountIndex: number;
  readonly equity: string;
  readonly maintenanceMargin: string;
  readonly ratio: string;
  readonly positions: readonly string[];
}
interface Health {
  readonly up: boolean;
  readonly ready: boolean;
  readonly seq: number | null;
  readonly ms: number;
}

export const health = signal<Health | null>(null);
export const audit = signal<readonly AuditEntry[]>([]);
export const serverStatus = signal<ServerStatus | null>(null);
export const atRisk = signal<readonly AtRisk[]>([]);
export const holders = signal(0);
export const operationsProblem = signal<string | null>(null);

const MAX_LISTED = 200;

/** Reads health, and with the operator token the rest. */
export async function readOperations(): Promise<void> {
  const beganMs = performance.now();
  const up = await ask('GET', '/healthz').then(
    () => true,
    () => false,
  );
  const ms = performance.now() - beganMs;
  const ready = await ask<{ readonly sequenceNumber: number }>('GET', '/readyz').catch(() => null);
  health.value = { up, ready: ready !== null, seq: ready?.body.sequenceNumber ?? null, ms };
  const settings = await call('getConfig', {}).catch(() => null);
  if (settings !== null) config.value = settings;
  const { value: token } = operatorToken;
  if (token === null) return;
  try {
    const [list, status, risk] = await Promise.all([
      ask<AuditEntry[]>('GET', '/operator/audit?limit=1000', { token }),
      ask<ServerStatus>('GET', '/operator/status', { token }),
      ask<{ readonly accounts: readonly AtRisk[]; readonly holders: number }>(
        'GET',
        `/operator/accounts?limit=${String(MAX_LISTED)}`,
        { token },
      ),
    ]);
    audit.value = list.body;
    serverStatus.value = status.body;
    atRisk.value = risk.body.accounts;
    holders.value = risk.body.holders;
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 401 && error.status !== 404)) return;
    operationsProblem.value =
      error.status === 404 ? 'This server has no operator token' : error.message;
    operatorToken.value = null;
  }
}
