/** The commands around the playhead, and the events of the current one as a tree by cause. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { EventAt } from '../../time-machine/views/event-tree.ts';
import { clock, count } from '../exact-text.ts';
import { Table, type Column } from '../table.tsx';
import { eventText, fieldsText } from './event-text.ts';
import { giveFocusBack } from './kept-focus.ts';
import { AccountName, litAccount, litOrder, OrderName, SeqLink } from './names.tsx';
import { around, findings, scene, search, searching, seekTo } from './store.ts';

/** The field that the key `/` focuses. */
export const SEARCH_ID = 'search';

export function Events() {
  const text = useSignal('');
  return (
    <>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void search(text.value);
        }}
      >
        <label class="hidden" for={SEARCH_ID}>
          Search events of the journal
        </label>
        <input
          id={SEARCH_ID}
          type="search"
          placeholder="order, account, kind, amount …"
          maxLength={100}
          onKeyDown={(event) => {
            // The first press empties the field.
            if (event.key === 'Escape' && text.value === '') giveFocusBack(event.currentTarget);
          }}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            if (text.value === '') findings.value = null;
          }}
        />
        <button class="button">Search the journal</button>
        <span class="small soft" role="status">
          {searching.value}
        </span>
      </form>
      {findings.value === null ? (
        <div class="two">
          <Commands />
          <Tree filter={text.value} />
        </div>
      ) : (
        <Findings />
      )}
    </>
  );
}

type CommandRow = (typeof around.value)[number];

const COMMANDS: readonly Column<CommandRow>[] = [
  { name: 'Seq', left: true, of: (row) => <SeqLink seq={row.seq} /> },
  { name: 'Time', left: true, of: (row) => clock(row.timeUs), tone: () => 'soft' },
  { name: 'Command', left: true, of: (row) => row.kind },
  { name: 'Effects', left: true, of: (row) => row.flags.join(', '), tone: () => 'soft rest' },
];

function Commands() {
  const now = scene.value;
  const box = useRef<HTMLDivElement>(null);
  const rows = around.value;
  useEffect(() => {
    if (box.current === null) return;
    const row = box.current.querySelector('[aria-current]');
    // Before the first command, none is current.
    const top = row instanceof HTMLElement ? row.offsetTop - box.current.clientHeight / 2 : 0;
    box.current.scrollTop = top;
  }, [rows, now?.seq]);
  return (
    <div
      ref={box}
      class="commands"
      tabIndex={0}
      role="region"
      aria-label="Commands around this instant"
    >
      <Table
        caption="Commands around this instant"
        hideCaption
        columns={COMMANDS}
        rows={rows}
        keyOf={(_row, i) => i}
        look={({ seq }) => ({
          class: seq === now?.seq ? 'lit' : seq > (now?.seq ?? 0) ? 'future' : '',
          current: seq === now?.seq,
        })}
        onRow={({ seq }) => {
          seekTo(seq);
        }}
      />
    </div>
  );
}

function Tree({ filter }: { readonly filter: string }) {
  const events = useComputed(() => scene.value?.step?.events ?? []);
  const shown = events.value.filter((event) => matches(event, filter));
  return (
    <ol class="tree" aria-label="Events of the command, by cause" tabIndex={0}>
      {shown.slice(0, 300).map((event) => (
        <li
          key={event.index}
          class={`${litOrder(event.orderId)} ${litAccount(event.subaccount)}`}
          style={{ '--depth': event.depth }}
          title={fieldsText(event)}
        >
          <span class="what">
            <span class={/liquid|shortfall|Reject/.test(event.kind) ? 'danger' : 'strong'}>
              {event.kind}
            </span>{' '}
            {event.orderId === null ? null : <OrderName id={event.orderId} />}{' '}
            {event.subaccount === null || event.owner === null ? null : (
              <AccountName id={event.subaccount} name={event.owner} />
            )}{' '}
            <span class="soft">{fieldsText(event)}</span>
          </span>
          <span class="quiet">{event.cause === 'command' ? '' : event.cause}</span>
        </li>
      ))}
      {shown.length === 0 ? (
        <li class="soft">
          {filter === '' ? 'This command has no events.' : 'No event of this command matches.'}
        </li>
      ) : null}
      {shown.length > 300 ? <li class="soft">and {count(shown.length - 300)} more</li> : null}
    </ol>
  );
}

function matches(event: EventAt, filter: string): boolean {
  return filter === '' || eventText(event).toLowerCase().includes(filter.toLowerCase());
}

type Finding = NonNullable<typeof findings.value>[number];

const FINDINGS: readonly Column<Finding>[] = [
  { name: 'Seq', left: true, of: (row) => <SeqLink seq={row.seq} /> },
  { name: 'Time', left: true, of: (row) => clock(row.timeUs), tone: () => 'soft' },
  { name: 'Event', left: true, of: (row) => row.text },
];

function Findings() {
  const found = findings.value ?? [];
  return (
    <Table
      caption={found.length === 0 ? 'Nothing found' : `${count(found.length)} events found`}
      columns={FINDINGS}
      rows={found}
      keyOf={(_row, i) => i}
    />
  );
}
