/**
 * Previews: a request or an operator command runs on a copy of the exchange, through the same code
 * as the request itself. So refusal, fills, fees and margin are those of the request, if it is sent
 * before anything else happens. The exchange itself does not change.
 */
import type { ExchangeConfig } from '../engine/config.ts';
import type { Command } from '../engine/commands.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import {
  COLLATERAL_DECIMALS,
  durationUs,
  type Address,
  type MarketId,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { formatDecimal } from '../num/decimal.ts';
import type { Caller } from './context.ts';
import { encodePosition, encodeStats, money, priceText, sizeText } from './encode.ts';
import { Gateway } from './gateway.ts';
import { TrustOrderIds, type OrderIds } from './order-ids.ts';
import type { Keccak } from './ports.ts';
import { mustSucceed } from './refusal-reply.ts';

/** A copy of an exchange, used once. */
export interface ExchangeCopy extends ExchangeView {
  apply(command: Command, emit?: EventSink): Outcome;
}

export interface PreviewContext {
  readonly view: ExchangeView;
  readonly nowUs: TimeUs;
  readonly keccak: Keccak;
  /** Of the exchange: finds the parents of protective orders. */
  readonly ids: OrderIds;
}

/** Orders in a preview of effects are listed by owner; more owners are counted only. */
const MAX_LISTED = 100;

/** Ends a request before its first command. */
class Reached extends Error {}

/**
 * The preview of a request that is refused before it makes a command, such as by its fields or its
 * rights; null for another one. It needs no copy.
 */
export function refusedPreview(
  { view, nowUs, keccak, ids }: PreviewContext,
  endpoint: 'submitOrder' | 'submitOrders',
  input: unknown,
  caller: Caller,
) {
  const gateway = new Gateway({
    engine: view,
    submit: () => {
      throw new Reached();
    },
    nowUs: () => nowUs,
    keccak,
    signatures: 'trust',
    ids,
  });
  try {
    const { status, body } = gateway.handle(endpoint, input, caller);
    if (status === 200) return null;
    const refusal = { status, message: String(body) };
    const nothing = { orders: [], fills: [], fee: money(0n), before: null, after: null };
    return { refusal, ...nothing, sequenceNumber: view.seq };
  } catch (error) {
    if (error instanceof Reached) return null;
    throw error;
  }
}

/** Previews the request of `submitOrder` or `submitOrders`; its signatures are not checked. */
export function previewOrders(
  { view, nowUs, keccak, ids }: PreviewContext,
  copy: ExchangeCopy,
  endpoint: 'submitOrder' | 'submitOrders',
  input: unknown,
  caller: Caller,
) {
  const events: EngineEvent[] = [];
  const own = new TrustOrderIds(copy, keccak);
  const gateway = new Gateway({
    engine: copy,
    submit: (command) => copy.apply(command, (event) => events.push(event)),
    nowUs: () => nowUs,
    keccak,
    signatures: 'trust',
    ids: idsOfCopy(ids, own, view),
  });
  const reply = gateway.handle(endpoint, input, caller);
  const owner = reply.status === 200 ? ownerOf(view, input) : null;
  const before = owner === null ? null : stateOf(view, owner);
  const refused = reply.status !== 200;
  const made = refused ? [] : reply.body;
  const orders = Array.isArray(made) ? made : (made as { orders: readonly unknown[] }).orders;
  const first = view.lastOrderId;
  const fills = events.flatMap((event) => {
    if (event.kind !== 'orderFilled' || event.orderId <= first || event.subaccount !== owner) {
      return [];
    }
    const market = copy.market(event.market);
    return [
      {
        symbol: market.spec.symbol,
        role: event.role,
        price: priceText(market, event.priceTicks),
        quantity: sizeText(market, event.lots),
        fee: money(event.feeQuanta + event.originatorFeeQuanta),
        feeQuanta: event.feeQuanta + event.originatorFeeQuanta,
      },
    ];
  });
  return {
    refusal: refused ? { status: reply.status, message: String(reply.body) } : null,
    orders,
    fills: fills.map(({ feeQuanta: _, ...fill }) => fill),
    fee: formatDecimal(
      fills.reduce((sum, { feeQuanta }) => sum + feeQuanta, 0n),
      COLLATERAL_DECIMALS,
    ),
    before,
    after: owner === null ? null : stateOf(copy, owner),
    sequenceNumber: view.seq,
  };
}

/** Orders of the exchange have the ids of their requests, orders of the copy ids of trust mode. */
function idsOfCopy(ids: OrderIds, own: OrderIds, view: ExchangeView): OrderIds {
  const last = view.lastOrderId;
  return {
    digestOf: (order) => (order.orderId > last ? own : ids).digestOf(order),
    digestOfRef: (subaccount, ref) => (ref.orderId > last ? own : ids).digestOfRef(subaccount, ref),
    find: (digest) => ids.find(digest),
    placed: () => undefined,
  };
}

function ownerOf(view: ExchangeView, input: unknown): SubaccountId | null {
  const { orders } = input as { readonly orders?: readonly unknown[] };
  const { account, subaccountIndex } = (orders?.[0] ?? input) as {
    readonly account: string;
    readonly subaccountIndex: number | string;
  };
  const owner = account.toLowerCase() as Address;
  return view.subaccountIdOf(owner, Number(subaccountIndex)) ?? null;
}

function stateOf(view: ExchangeView, owner: SubaccountId) {
  return {
    stats: encodeStats(view, owner),
    positions: view.positions(owner).map((held) => encodePosition(view, held)),
  };
}

/** Effects of an operator command on accounts. */
interface Effects {
  ordersEnded: number;
  positionsClosed: number;
  liquidations: {
    account: Address;
    subaccountIndex: number;
    symbol: string | null;
    step: string;
  }[];
  liquidatedAccounts: number;
  shortfall: string;
}

/** Effects of a command on a copy. Throws `RequestError` if it is refused. */
export function effectsOf(copy: ExchangeCopy, command: Command): Effects {
  let ordersEnded = 0;
  const transferred = new Map<string, readonly [SubaccountId, MarketId]>();
  const steps = new Map<string, Effects['liquidations'][number]>();
  const touched = new Set<SubaccountId>();
  mustSucceed(
    copy.apply(command, (event) => {
      if (event.kind === 'orderEnded') ordersEnded += 1;
      if (event.kind === 'positionTransferred') {
        for (const side of [event.from, event.to]) {
          transferred.set(`${String(side)} ${String(event.market)}`, [side, event.market]);
        }
      }
      if (event.kind !== 'liquidationStep' || event.step === 'safe') return;
      touched.add(event.subaccount);
      const key = `${String(event.subaccount)} ${String(event.market)} ${event.step}`;
      if (steps.size >= MAX_LISTED || steps.has(key)) return;
      const { account, index } = copy.subaccount(event.subaccount);
      steps.set(key, {
        account: copy.addressOf(account),
        subaccountIndex: index,
        symbol: event.market === null ? null : copy.market(event.market).spec.symbol,
        step: event.step,
      });
    }),
  );
  return {
    ordersEnded,
    positionsClosed: [...transferred.values()].filter(
      ([id, market]) => copy.positionLots(id, market) === 0,
    ).length,
    liquidations: [...steps.values()],
    liquidatedAccounts: touched.size,
    shortfall: money(copy.funds().shortfallQuanta),
  };
}

/** Effects of an operator command now, and at the end of a notice that it begins. */
export function previewCommand(
  view: ExchangeView,
  copyOf: (changed?: Partial<ExchangeConfig>) => ExchangeCopy,
  command: Command,
) {
  const copy = copyOf();
  const now = effectsOf(copy, command);
  const at = command.kind === 'setMarketTerms' ? copy.market(command.market).nextSpecUs : null;
  return {
    now,
    // At the prices of now: those of the end of the notice are unknown.
    afterNotice:
      at === null
        ? null
        : {
            effectiveAt: Math.floor(at / 1000),
            ...effectsOf(copyOf({ termsNoticeUs: durationUs(0) }), command),
          },
    sequenceNumber: view.seq,
  };
}
