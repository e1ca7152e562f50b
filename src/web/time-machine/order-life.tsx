/** The life of the selected order: its wait in sentences, its events, and the queue before it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { duration, grouped } from '../../design/number-text.ts';
import type {
  OrderLifeView,
  OrderMoment,
  OrderWait,
  QueueOwner,
} from '../../time-machine/views/order-life.ts';
import { clock } from '../exact-text.ts';
import { eventText } from './event-text.ts';
import { OrderName, SeqLink } from './names.tsx';
import { engine, progress } from './store.ts';

export function OrderLife({ id }: { readonly id: number }) {
  const [life, setLife] = useState<OrderLifeView | null>(null);
  const [status, setStatus] = useState('');
  const isComplete = progress.value?.complete === true;
  useEffect(() => {
    let isGone = false;
    const show = async (): Promise<void> => {
      try {
        const found = await engine.orderHistory(id);
        if (isGone) return;
        setLife(found);
        setStatus('');
      } catch (error) {
        if (!isGone) setStatus((error as Error).message);
      }
    };
    setStatus(
      isComplete ? 'executing its part of the journal …' : 'after the whole journal is read',
    );
    if (isComplete) void show();
    return () => {
      isGone = true;
    };
  }, [id, isComplete]);
  return (
    <div>
      <h3>Life of the order</h3>
      {life === null ? (
        <p role="status" class="small soft">
          {status}
        </p>
      ) : (
        <>
          <ul class="lines">
            <Wait life={life} />
          </ul>
          <ol class="life">
            {life.moments.map((moment, i) => (
              <li key={i}>
                <Moment moment={moment} />
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function Moment({ moment }: { readonly moment: OrderMoment }) {
  const { seq, timeUs, event, text, ahead } = moment;
  const full = event === null ? text : eventText(event);
  return (
    <>
      <SeqLink seq={seq} /> <span class="soft">{clock(timeUs)}</span>{' '}
      {ahead === null ? '' : `${grouped(ahead)} ahead · `}
      <span title={full}>{full.split(' · ')[0]}</span>
    </>
  );
}

/** Why it was filled when it was: the queue, better prices, and the time that each took. */
function Wait({ life: { wait, filled } }: { readonly life: OrderLifeView }) {
  if (wait === null || (filled !== null && filled.seq < wait.seq)) {
    const text = 'It was filled on arrival, without a queue.';
    return <li>{filled === null ? 'It never rested on the book, and was not filled.' : text}</li>;
  }
  const waited = duration(Math.max(0, (filled?.timeUs ?? wait.endUs) - wait.timeUs));
  return (
    <>
      <li>
        It rested at {grouped(wait.price)} after <SeqLink seq={wait.seq} />, behind{' '}
        {grouped(wait.ahead)}
        {wait.owners.length === 0 ? '' : ': '}
        <Owners all={wait.owners} />.
      </li>
      {isZero(wait.ahead) ? null : (
        <li>
          Of the size ahead, {grouped(wait.traded)} traded and {grouped(wait.withdrawn)} was
          withdrawn.
        </li>
      )}
      <Better wait={wait} />
      {wait.behindUs === 0 ? null : (
        <li>
          For {duration(wait.behindUs)} of {waited}, another price of its side was better.
        </li>
      )}
      <li>
        {filled === null ? (
          `It was not filled in ${waited}.`
        ) : (
          <>
            It was filled first after {waited}, by <SeqLink seq={filled.seq} />.
          </>
        )}
      </li>
    </>
  );
}

function Better({ wait }: { readonly wait: OrderWait }): ComponentChildren {
  if (isZero(wait.better)) return null;
  return (
    <li>
      At better prices, {grouped(wait.better)} traded before it
      {wait.betterOwners.length === 0 ? ', all of it recorded liquidity' : ': '}
      <Owners all={wait.betterOwners} />.
    </li>
  );
}

function Owners({ all }: { readonly all: readonly QueueOwner[] }) {
  return (
    <>
      {all.map(({ name, orderId, size }, i) => (
        <span key={i}>
          {i === 0 ? '' : ', '}
          {name} {orderId === null ? null : <OrderName id={orderId} />} {grouped(size)}
        </span>
      ))}
    </>
  );
}

const isZero = (size: string): boolean => !/[1-9]/.test(size);
