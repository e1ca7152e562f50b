/** The server's state, and accounts by equity ÷ maintenance margin. */
import { duration, grouped } from '../../design/number-text.ts';
import { bytesText, money } from '../exact-text.ts';
import { DataTable } from '../data-table.tsx';
import type { Column } from '../table.tsx';
import { config } from './markets.ts';
import { atRisk, health, holders, serverStatus, type AtRisk } from './operations-state.ts';
import { UNKNOWN } from './text.ts';

/** Free bytes below which the disk is near its end. */
const LOW_DISK = 1e9;
const NEAR_LIQUIDATION = 1.1;

const largeBytes = (bytes: number): string =>
  bytes < 1e9 ? bytesText(bytes) : `${grouped((bytes / 1e9).toFixed(1))}\u202fGB`;

function Cell(of: { readonly name: string; readonly text: string; readonly isBad?: boolean }) {
  return (
    <div>
      <dt>{of.name}</dt>
      <dd class={of.isBad === true ? 'danger' : ''}>{of.text}</dd>
    </div>
  );
}

export function HealthStrip() {
  const { value: now } = health;
  const { value: settings } = config;
  const usd = (text: string | undefined): string => (text === undefined ? UNKNOWN : money(text));
  return (
    <dl class="strip">
      <Cell
        name="Process"
        text={now === null ? UNKNOWN : now.up ? 'up' : 'DOWN'}
        isBad={now?.up === false}
      />
      <Cell
        name="Writes"
        text={now === null ? UNKNOWN : now.ready ? 'accepted' : 'STOPPED'}
        isBad={now?.ready === false}
      />
      <Cell name="Answer" text={now === null ? UNKNOWN : `${now.ms.toFixed(0)} ms`} />
      <Cell name="Sequence" text={String(now?.seq ?? UNKNOWN)} />
      <Cell
        name="Shortfall, USD"
        text={usd(settings?.shortfall)}
        isBad={settings !== null && Number(settings.shortfall) < 0}
      />
      <Cell name="Insurance, USD" text={usd(settings?.insuranceBalance)} />
      <Cell name="Insurance left this hour" text={usd(settings?.insuranceAllowance)} />
      <Cell name="Vault, USD" text={usd(settings?.vaultNav)} />
    </dl>
  );
}

export function StatusStrip() {
  const { value: now } = serverStatus;
  if (now === null) return null;
  const free = now.diskFreeBytes;
  return (
    <dl class="strip" id="server-status">
      <Cell
        name="Free disk"
        text={free === null ? UNKNOWN : largeBytes(free)}
        isBad={free !== null && free < LOW_DISK}
      />
      <Cell name="Journal" text={bytesText(now.journalBytes)} />
      <Cell
        name="Last snapshot"
        text={
          now.snapshot.mismatch
            ? 'MISMATCH'
            : now.snapshot.failures > 0
              ? `${String(now.snapshot.failures)} failed`
              : `of command ${grouped(String(now.snapshot.sequenceNumber))}`
        }
        isBad={now.snapshot.mismatch || now.snapshot.failures > 0}
      />
      <Cell name="Sync" text={duration(now.lastSyncSeconds * 1e6)} />
      <Cell name="Waiting replies" text={String(now.waitingReplies)} />
      <Cell name="Connections" text={String(now.connections)} />
      <Cell name="Feeds" text={String(now.feedConnections)} />
      <Cell
        name="Slow readers"
        text={`${String(now.slowReaders)}, ${bytesText(now.feedBacklogBytes)} unsent`}
        isBad={now.slowReaders > 0}
      />
      <Cell
        name="Refused by rate limits"
        text={
          now.requestsPerSecond === null
            ? 'no limits'
            : `${grouped(String(now.rateRefusals))} (${String(now.requestsPerSecond)}/s)`
        }
      />
      <Cell
        name="Clock behind"
        text={now.clockBehindMs === 0 ? 'no' : duration(now.clockBehindMs * 1000)}
        isBad={now.clockBehindMs > 0}
      />
      <Cell name="Memory" text={bytesText(now.memoryBytes)} />
      <Cell name="Up for" text={duration(now.uptimeSeconds * 1e6)} />
    </dl>
  );
}

const RISK: readonly Column<AtRisk>[] = [
  {
    name: 'Equity ÷ maintenance',
    width: 1.6,
    of: ({ ratio }) => (
      <span class={Number(ratio) < NEAR_LIQUIDATION ? 'danger' : ''} title={ratio}>
        {Number(ratio).toFixed(2)}
      </span>
    ),
    by: (row) => Number(row.ratio),
  },
  { name: 'Account', width: 3.9, left: true, of: (row) => <span class="mono">{row.account}</span> },
  { name: 'Subaccount', of: (row) => row.subaccountIndex },
  {
    name: 'Equity, USD',
    width: 1.2,
    of: (row) => money(row.equity),
    by: (row) => Number(row.equity),
  },
  {
    name: 'Maintenance, USD',
    width: 1.4,
    of: (row) => money(row.maintenanceMargin),
    by: (row) => Number(row.maintenanceMargin),
  },
  { name: 'Positions', width: 2, left: true, of: (row) => row.positions.join(', ') },
];

export function AccountsAtRisk() {
  return (
    <section aria-label="Accounts at risk">
      <h2>
        Accounts, riskiest first <span class="quiet">({holders.value} with positions)</span>
      </h2>
      <DataTable
        caption="Accounts by equity ÷ maintenance margin"
        rows={atRisk.value}
        columns={RISK}
        keyOf={(row) => `${row.account} ${String(row.subaccountIndex)}`}
        empty="No account has a position"
        file="accounts-at-risk"
      />
    </section>
  );
}
