/**
 * History of an order's queue position from the journal. The run is re-executed; the volume ahead
 * of the order is read after each command. Each change is attributed to its command.
 */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { orderId } from '../../num/units.ts';
import { JournalReader } from '../../journal/format/frames.ts';

export interface QueueStep {
  readonly timeUs: number;
  readonly seq: number;
  readonly cause: 'rested' | 'trade' | 'cancel' | 'growth' | 'users' | 'filled';
  /** Volume ahead of the order after this step. */
  readonly ahead: string;
  /** Change of the volume ahead; '0' when the order joined the queue. */
  readonly change: string;
  /** The trade's or level's size on the tape. */
  readonly detail: string;
}

export interface QueueStory {
  readonly queueModel: string;
  readonly steps: readonly QueueStep[];
  /** Best prices of both sides just before the order arrived. */
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
  /** Margin of its account just before it arrived. */
  readonly equity: string;
  readonly initialRequirement: string;
}

export interface StoryOptions {
  /** Fraction 0…1, and a query whether to stop. */
  readonly onProgress?: (fraction: number) => void;
  readonly cancelled?: () => boolean;
}

const PROGRESS_EVERY = 4096;

/** History of the order with this number; null if the journal ends before it. */
export function queueStory(
  journal: Uint8Array,
  number: number,
  options: StoryOptions = {},
): QueueStory | null {
  const reader = new JournalReader(journal);
  const engine = new Exchange(reader.header.config);
  const id = orderId(number);
  const steps: QueueStep[] = [];
  let story: QueueStory | null = null;
  let ahead = null as number | null;
  let commands = 0;
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind !== 'command') continue;
    const { command } = frame;
    const events: EngineEvent[] = [];
    const placed = engine.lastOrderId < id;
    const before = placed ? contextOf(engine, command) : null;
    engine.apply(command, (event) => events.push(event));
    commands += 1;
    if (commands % PROGRESS_EVERY === 0) {
      options.onProgress?.(reader.offset / journal.length);
      if (options.cancelled?.() === true) return null;
    }
    if (engine.lastOrderId < id) continue;
    if (placed) {
      const market = engine.market(must(engine.order(id), 'the order was placed just now').market);
      story = {
        queueModel: market.spec.queueModel,
        steps,
        bestBid: before?.bid ?? null,
        bestAsk: before?.ask ?? null,
        equity: before?.equity ?? '0',
        initialRequirement: before?.initial ?? '0',
      };
    }
    const order = engine.order(id);
    if (order === undefined) break;
    const market = engine.market(order.market);
    const now = engine.queueAhead(id);
    const filled = events.find((event) => event.kind === 'orderFilled' && event.orderId === id);
    const was: number | null = ahead;
    const note = (cause: QueueStep['cause'], detail: string): void => {
      steps.push({
        timeUs: engine.nowUs,
        seq: engine.seq,
        cause,
        ahead: sizeText(market, now ?? 0),
        change: sizeText(market, (now ?? 0) - (was ?? now ?? 0)),
        detail,
      });
    };
    if (filled?.kind === 'orderFilled') {
      note(
        'filled',
        `${sizeText(market, Math.abs(filled.lots))} at ${priceText(market, filled.priceTicks)}`,
      );
    } else if (now !== null && was === null) note('rested', '');
    else if (now !== null && was !== null && now !== was) {
      const { cause, detail } = causeOf(command, now > was, (lots) => sizeText(market, lots));
      note(cause, detail);
    }
    ahead = now;
    if (!LIVE.includes(order.status)) break;
  }
  return story;
}

const LIVE: readonly string[] = ['new', 'partiallyFilled', 'pending'];

function causeOf(
  command: Command,
  grew: boolean,
  size: (lots: number) => string,
): Pick<QueueStep, 'cause' | 'detail'> {
  switch (command.kind) {
    case 'tapeTrade':
      return { cause: 'trade', detail: `a trade of ${size(Math.abs(command.lots))}` };
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      return grew
        ? { cause: 'growth', detail: 'volume ahead was restored after a late trade' }
        : { cause: 'cancel', detail: 'volume left the level without a trade' };
    default:
      return { cause: 'users', detail: 'another order ahead ended or was filled' };
  }
}

/** State before the command that may place the order. */
function contextOf(
  engine: Exchange,
  command: Command,
): { bid: string | null; ask: string | null; equity: string; initial: string } | null {
  if (command.kind !== 'placeOrder' && command.kind !== 'placeOrders') return null;
  const id = command.kind === 'placeOrder' ? command.market : command.orders[0]?.market;
  if (id === undefined) return null;
  const market = engine.market(id);
  const margin = engine.margin(command.subaccount);
  const price = (level: typeof market.bestBid): string | null =>
    level === null ? null : priceText(market, level.priceTicks);
  return {
    bid: price(market.bestBid),
    ask: price(market.bestAsk),
    equity: money(margin.accountValueQuanta),
    initial: money(margin.initialRequirementQuanta),
  };
}
