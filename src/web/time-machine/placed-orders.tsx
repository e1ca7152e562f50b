/** All orders of an account in the order in which they were placed, each with its fork. */
import { useEffect, useState } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import { clock, count } from '../exact-text.ts';
import { Table, type Column } from '../table.tsx';
import { bottomTab } from './bottom-tab.ts';
import { runFork } from './fork.ts';
import { litOrder, OrderName, SeqLink } from './names.tsx';
import type { PlacedOrder, PlacedOrders } from './order-history.ts';
import { engine } from './store.ts';

async function forkWithout({ seq, orderId }: PlacedOrder): Promise<void> {
  bottomTab.value = 'fork';
  await runFork([await engine.withoutOrder(seq, orderId)]);
}

const PLACED: readonly Column<PlacedOrder>[] = [
  { name: 'No.', left: true, of: (row) => count(row.number) },
  { name: 'Order', left: true, of: (row) => <OrderName id={row.orderId} /> },
  {
    name: 'What if',
    left: true,
    of: (row) => (
      <button type="button" class="link" onClick={() => void forkWithout(row)}>
        Without it
      </button>
    ),
  },
  { name: 'Placed by', left: true, of: (row) => <SeqLink seq={row.seq} /> },
  { name: 'Time', left: true, of: (row) => clock(row.timeUs), tone: () => 'soft' },
  { name: 'Type', left: true, of: (row) => row.orderType },
  {
    name: 'Side',
    left: true,
    of: (row) => row.side,
    tone: (row) => (row.side === 'buy' ? 'gain' : 'loss'),
  },
  { name: 'Size', of: (row) => grouped(row.size) },
  { name: 'Price', of: (row) => grouped(row.price) },
  { name: 'Filled', of: (row) => grouped(row.filled) },
  { name: 'End', left: true, of: (row) => row.end, tone: () => 'soft prose' },
];

interface AllOrdersProps {
  readonly subaccount: number;
  readonly name: string;
}

export function AllOrders({ subaccount, name }: AllOrdersProps) {
  const [found, setFound] = useState<PlacedOrders | null>(null);
  const [status, setStatus] = useState('');
  useEffect(() => {
    setFound(null);
    setStatus('');
  }, [subaccount]);
  const show = async (): Promise<void> => {
    setStatus('executing the journal …');
    try {
      const made = await engine.ordersOf(subaccount);
      if (made === null) return;
      setFound(made);
      setStatus('');
      requestAnimationFrame(() => {
        document.getElementById('all-orders')?.scrollIntoView({ block: 'start' });
      });
    } catch (error) {
      setStatus((error as Error).message);
    }
  };
  return (
    <>
      <div class="toolbar" id="all-orders">
        <button type="button" class="button" onClick={() => void show()}>
          All orders of {name}
        </button>
        <span class="soft small" role="status">
          {status}
        </span>
      </div>
      {found === null ? null : (
        <Table
          id="placed-orders"
          caption={captionOf(name, found)}
          columns={PLACED}
          rows={found.rows}
          keyOf={(row) => row.orderId}
          look={(row) => ({ class: litOrder(row.orderId) })}
        />
      )}
    </>
  );
}

const captionOf = (name: string, { rows, count: all }: PlacedOrders): string =>
  rows.length < all
    ? `The first ${count(rows.length)} of ${count(all)} orders of ${name}`
    : `All ${count(all)} orders of ${name}, in the order in which they were placed`;
