/** The life of the selected order: its events, and how the queue before it shrank. */
import { useState } from 'preact/hooks';
import { duration, grouped } from '../../design/number-text.ts';
import { clock } from '../exact-text.ts';
import { SeqLink } from './names.tsx';
import type { OrderMoment } from './order-history.ts';
import { engine } from './store.ts';

export function OrderLife({ id }: { readonly id: number }) {
  const [moments, setMoments] = useState<readonly OrderMoment[] | null>(null);
  const [status, setStatus] = useState('');
  const show = async (): Promise<void> => {
    setStatus('executing the journal …');
    try {
      setMoments(await engine.orderHistory(id));
      setStatus('');
    } catch (error) {
      setStatus((error as Error).message);
    }
  };
  if (moments === null) {
    return (
      <div class="actions">
        <button type="button" class="button" onClick={() => void show()}>
          Why then? Show its life
        </button>
        <span role="status" class="small soft">
          {status}
        </span>
      </div>
    );
  }
  return (
    <div>
      <h3>Life of the order</h3>
      <p>{summary(moments)}</p>
      <ol class="life">
        {moments.map(({ seq, timeUs, text, ahead }, i) => (
          <li key={i}>
            <SeqLink seq={seq} /> <span class="soft">{clock(timeUs)}</span>{' '}
            {ahead === null ? '' : `${grouped(ahead)} ahead · `}
            <span title={text}>{text.split(' · ')[0]}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Time in the queue, and the size that had to go first. */
function summary(moments: readonly OrderMoment[]): string {
  const rested = moments.find(({ ahead }) => ahead !== null);
  const filled = moments.find(({ text }) => text.startsWith('orderFilled'));
  if (filled === undefined) return 'It was never filled.';
  if (rested === undefined || rested.seq > filled.seq)
    return 'It was filled on arrival, without a queue.';
  const wait = duration(Math.max(0, filled.timeUs - rested.timeUs));
  return `It rested behind ${grouped(rested.ahead ?? '0')} and was filled first after ${wait}.`;
}
