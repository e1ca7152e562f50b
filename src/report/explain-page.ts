/**
 * Pages that explain orders: one page for all orders of a run from its records, or one order with
 * the steps of its queue.
 */
import { explainOrder, type OrderFacts } from '../backtest/explain/explain-order.ts';
import type { QueueStory } from '../backtest/explain/queue-story.ts';
import type { FillRow, OrderRow, StrategyOutput } from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { duration, grouped, prose, time } from '../design/number-text.ts';
import type { PageLibraries } from './libraries.ts';
import type { ReportedRun } from './page-data.ts';
import { reasonText } from './reason-text.ts';
import { pageOf } from './page.ts';
import { escape, table } from './text.ts';
import { shellWord } from '../platform/shell-word.ts';

/** Name of the page of all orders in the folder of a run. */
export const EXPLANATIONS = 'explain.html';

/** Text of the latency model among the assumptions. */
export function latencyOf(assumptions: readonly Note[]): string {
  const text = assumptions.find(({ title }) => title === 'Latency')?.text ?? '';
  return text.replace(/\.$/, '');
}

/** Max orders of the page of a run. */
const MOST_ORDERS = 2000;

/** An event of an order, and further sentences about it. */
export interface Moment {
  /** `2024-08-08 23:54:16.298123`; empty for facts without a time. */
  readonly at: string;
  readonly text: string;
}

/** Lines of an explanation as moments: a line without a date continues the one before. */
export function momentsOf(lines: readonly string[]): Moment[] {
  const moments: { at: string; text: string }[] = [];
  for (const line of lines) {
    const dated = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)\s+(.*)$/.exec(line);
    const text = prose((dated?.[2] ?? line).trim());
    if (text === '') continue;
    const last = moments.at(-1);
    if (dated !== null) moments.push({ at: dated[1] ?? '', text });
    else if (last !== undefined && line.startsWith(' ')) last.text += ` ${text}`;
    else moments.push({ at: '', text });
  }
  return moments;
}

type ExplainedRun = Pick<ReportedRun, 'output'>['output'];

/** Orders that were filled or rejected, in the order of their numbers. */
function explained(run: ExplainedRun): { strategy: StrategyOutput; order: OrderRow }[] {
  return run.strategies
    .flatMap((strategy) =>
      strategy.orders
        .filter(({ filled, status }) => Number(filled) > 0 || status === 'rejected')
        .map((order) => ({ strategy, order })),
    )
    .sort((a, b) => a.order.orderNumber - b.order.orderNumber);
}

/** Numbers of the orders that the page of a run has. */
export function explainedOrders(run: ExplainedRun): ReadonlySet<number> {
  const shown = explained(run).slice(0, MOST_ORDERS);
  return new Set(shown.map(({ order }) => order.orderNumber));
}

/** Page of all orders of a run; `folder` is that of its record and journal; null without them. */
export function renderExplanations(
  run: ExplainedRun,
  { title, latency, folder }: { title: string; latency: string; folder: string | null },
  libraries: PageLibraries,
): string {
  const all = explained(run);
  const shown = all.slice(0, MOST_ORDERS);
  const isOne = run.strategies.length === 1;
  const fillsOf = fillsByOrder(run);
  const rows = shown.map(({ strategy, order }) => {
    const fills = fillsOf.get(order.orderNumber) ?? [];
    return {
      order,
      strategy: strategy.id,
      moments: momentsOf(linesOf(run, { order, fills, latency, story: null })),
    };
  });
  const list = table(
    rows,
    [
      {
        title: 'Order',
        isText: true,
        cell: ({ order }) => `#${String(order.orderNumber)}`,
        link: ({ order }) => `#order-${String(order.orderNumber)}`,
      },
      { title: 'Sent', isText: true, cell: ({ order }) => time(order.sentUs) },
      ...(isOne
        ? []
        : [
            { title: 'Strategy', isText: true, cell: (row: (typeof rows)[number]) => row.strategy },
          ]),
      { title: 'Market', isText: true, cell: ({ order }) => order.symbol },
      { title: 'Side', isText: true, cell: ({ order }) => order.side },
      { title: 'Size', cell: ({ order }) => order.size },
      { title: 'Filled', cell: ({ order }) => order.filled },
      { title: 'Reason', isText: true, cell: ({ order }) => reasonText(order) ?? '–' },
      { title: 'End', isText: true, cell: ({ order }) => order.reason ?? order.status },
    ],
    { id: 'orders', filter: 'buy rejected', caption: 'orders', maxRows: MOST_ORDERS },
  );
  const sections = rows.map(
    ({ order, moments }) => `<section id="order-${String(order.orderNumber)}" class="order">
<h3>#${String(order.orderNumber)} ${escape(titleOf(order))}, ${time(order.sentUs).slice(0, 10)}</h3>
${timeline(moments)}
</section>`,
  );
  const cut =
    all.length > shown.length
      ? `<p class="caption">The first ${String(shown.length)} of ${grouped(String(all.length))} orders that were filled or rejected.</p>`
      : '';
  const main = `<h2 id="all">Orders</h2>
${all.length === 0 ? '<p>No order was filled or rejected.</p>' : list}
${cut}
<h2 id="why">Why each of them ended as it did</h2>
${folder === null ? '<p>From the records of the run.</p>' : wholeStory(folder)}
${sections.join('\n')}`;
  const filled = all.filter(({ order }) => Number(order.filled) > 0).length;
  return pageOf(
    {
      title: `Orders of ${title}`,
      lede: `${time(run.firstUs)} to ${time(run.lastUs)} UTC`,
      verdict: `${grouped(String(filled))} orders were filled, ${grouped(String(all.length - filled))} were rejected.`,
      hash: run.chainHash,
      hashLink: 'index.html#verify',
      sections: [
        ['all', 'Orders'],
        ['why', 'Why'],
      ],
      back: ['index.html', 'Report'],
      main,
      data: NO_CHARTS,
    },
    libraries,
  );
}

function wholeStory(folder: string): string {
  const command = `npx orrery explain ${shellWord(folder)} '#<order>' --html`;
  return `<p>From the records of the run. The steps of its queue and the journal’s commands:</p>
<pre tabindex="0"><code>${escape(command)}</code></pre>`;
}

export interface ExplainedOrder {
  readonly order: OrderRow;
  readonly strategy: StrategyOutput;
  readonly latency: string;
  readonly story: QueueStory | null;
  /** Command that printed the page. */
  readonly command: string;
}

/** Page of one order with the steps of its queue. */
export function renderExplanation(
  run: ExplainedRun,
  { order, strategy, latency, story, command }: ExplainedOrder,
  libraries: PageLibraries,
): string {
  const fills = fillsByOrder(run).get(order.orderNumber) ?? [];
  const moments = momentsOf(linesOf(run, { order, fills, latency, story }));
  const steps = story?.steps ?? [];
  const queue =
    steps.length < 2
      ? `<p class="caption">${order.restedUs === null ? 'The order never rested on the book, so it had no queue.' : 'Nothing changed the queue ahead of the order.'}</p>`
      : `<div class="small" data-draws="queue" role="img" aria-label="Volume ahead of the order over time; the table below has the steps"></div>
${table(
  steps,
  [
    { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
    { title: 'Cause', isText: true, cell: ({ cause }) => cause },
    { title: 'Change', cell: ({ change }) => change.replace('-', '−') },
    { title: 'Ahead', cell: ({ ahead }) => ahead },
    { title: 'Detail', isText: true, isLong: true, cell: ({ detail }) => detail },
    { title: 'Command', cell: ({ seq }) => String(seq) },
  ],
  // All of them: no file has them.
  { id: 'steps', filter: 'trade', caption: 'steps of the queue', maxRows: steps.length },
)}`;
  const main = `<h2 id="timeline">What happened</h2>
${timeline(moments)}
<h2 id="queue">Queue ahead of the order</h2>
${queue}
<h2 id="repeat">Repeat</h2>
<pre tabindex="0"><code>${escape(command)}</code></pre>`;
  return pageOf(
    {
      title: `Order #${String(order.orderNumber)} of ${strategy.id}`,
      lede: `${titleOf(order)}, sent ${time(order.sentUs)} UTC`,
      verdict: endOf(run, fills, order),
      sections: [
        ['timeline', 'What happened'],
        ['queue', 'Queue'],
        ['repeat', 'Repeat'],
      ],
      back: ['index.html', 'Report'],
      main,
      data: {
        ...NO_CHARTS,
        queue: steps.map(({ timeUs, ahead }) => [timeUs / 1e6, Number(ahead)]),
      },
    },
    libraries,
  );
}

/** Page of a liquidation. */
export function renderLiquidation(
  title: string,
  lines: readonly string[],
  command: string,
  libraries: PageLibraries,
): string {
  return pageOf(
    {
      title,
      lede: 'Each step with its formula and numbers.',
      back: ['index.html', 'Report'],
      main: `<h2>What happened</h2>\n${timeline(momentsOf(lines))}\n<h2>Repeat</h2><pre tabindex="0"><code>${escape(command)}</code></pre>`,
      data: NO_CHARTS,
    },
    libraries,
  );
}

const NO_CHARTS = { markets: [], strategies: [] } as const;

/** Fills of each order, by its number: a search for each order would take their product. */
function fillsByOrder({ strategies }: ExplainedRun): ReadonlyMap<number, readonly FillRow[]> {
  const byOrder = new Map<number, FillRow[]>();
  for (const fill of strategies.flatMap(({ fills }) => fills)) {
    const known = byOrder.get(fill.orderNumber);
    if (known === undefined) byOrder.set(fill.orderNumber, [fill]);
    else known.push(fill);
  }
  return byOrder;
}

function linesOf(
  run: ExplainedRun,
  { order, fills, latency, story }: Omit<OrderFacts, 'market'>,
): readonly string[] {
  const market = run.markets.find(({ symbol }) => symbol === order.symbol);
  if (market === undefined) return [];
  const lines = explainOrder({ order, fills, market, latency, story });
  // The first lines repeat the title.
  return lines.slice(lines.indexOf('') + 1);
}

/** How the order ended, in a sentence. */
function endOf(run: ExplainedRun, own: readonly FillRow[], order: OrderRow): string {
  const size = own.reduce((sum, fill) => sum + Number(fill.size), 0);
  if (own.length === 0 || size === 0) {
    return `Not filled: ${order.reason ?? order.status}.`;
  }
  const tick = run.markets.find(({ symbol }) => symbol === order.symbol)?.tickSize ?? '';
  const decimals = (tick.split('.')[1]?.length ?? 0) + 1;
  const price = own.reduce((sum, fill) => sum + Number(fill.size) * Number(fill.price), 0) / size;
  const roles = [...new Set(own.map(({ role }) => role))].join(' and ');
  const lastUs = own.at(-1)?.timeUs ?? order.arrivedUs;
  return `Filled ${order.filled} of ${order.size} at ${grouped(price.toFixed(decimals))} on average as ${roles}, ${lastUs === order.arrivedUs ? 'on arrival' : `${duration(lastUs - order.arrivedUs)} after it arrived`}.`;
}

function titleOf(order: OrderRow): string {
  const { side, size, symbol, price, triggerPrice, ioc } = order;
  const reason = reasonText(order);
  const trigger = typeof triggerPrice === 'string' ? `, triggered at ${grouped(triggerPrice)}` : '';
  const how = `${ioc ? (trigger === '' ? ' at once' : '') : ` at ${grouped(price)}`}${trigger}`;
  return `${side} ${size} ${symbol}${how}${reason === null ? '' : `, ${reason}`}`;
}

function timeline(moments: readonly Moment[]): string {
  const items = moments.map(
    ({ at, text }) =>
      `<li>${at === '' ? '' : `<time datetime="${at.replace(' ', 'T')}Z" title="${at}">${at.slice(11, 23)}</time> `}${escape(text)}</li>`,
  );
  return `<ol class="timeline">${items.join('')}</ol>`;
}
