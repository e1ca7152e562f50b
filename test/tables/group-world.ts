/**
 * Two markets and three funded users, for tables of groups. Orders are given by their relevant
 * fields.
 */
import type { NewOrder } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { OrderView } from '../../src/engine/read/views.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address, lots, marketId, orderId, priceTicks, subaccountId } from '../../src/num/units.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';
import { World } from '../setup/world.ts';

const USERS = ['a', 'b', 'c'].map((letter) => address(`0x${letter.repeat(40)}`));
export const ANN = 6;
export const BOB = 7;
export const CAT = 8;

/** Fields of an order that a test may set; the rest is a plain limit that never expires. */
export type Draft = { size: number; price: number } & {
  -readonly [K in keyof NewOrder]?: NewOrder[K];
};

export function drafted({ size, price, ...rest }: Draft, nonce: bigint): NewOrder {
  return {
    ...PLAIN_LIMIT,
    lots: lots(size),
    priceTicks: priceTicks(price),
    nonce,
    triggerTicks: null,
    trailingPpm: null,
    periodMs: null,
    parent: null,
    attached: false,
    ...rest,
  };
}

export class GroupWorld extends World {
  private nonce = 0n;

  constructor(config: Partial<ExchangeConfig> = {}, market: object = {}) {
    super(
      { ...DEFAULT_EXCHANGE_CONFIG, indexStaleUs: 1e15 as never, ...config },
      ['ONE', 'TWO'].map((symbol) => ({
        symbol,
        tickSize: '1',
        lotSize: '1',
        makerFee: '0',
        takerFee: '0',
        ...market,
      })),
    );
    for (const account of USERS) this.credit(account, 0, 1_000_000_000_000n);
    this.index(0, 1000);
    this.index(1, 1000);
  }

  index(market: number, price: number): void {
    this.setIndex(marketId(market), price, String(price));
  }

  group(who: number, ...drafts: readonly Draft[]): string {
    return this.apply({
      kind: 'placeOrders',
      timeUs: this.now,
      subaccount: subaccountId(who),
      delegate: null,
      orders: drafts.map((draft) =>
        drafted(draft, draft.attached === true ? this.nonce : ++this.nonce),
      ),
    });
  }

  cancel(id: number): string {
    return this.apply({ kind: 'cancelOrder', timeUs: this.now, orderId: orderId(id) });
  }

  get last(): number {
    return this.engine.lastOrderId;
  }

  order(id: number): OrderView {
    const order = this.engine.order(orderId(id));
    if (order === undefined) throw new Error(`no order ${String(id)}`);
    return order;
  }

  /** `status settled reason` of an order. */
  shown(id: number): string {
    const { status, settledLots, reason } = this.order(id);
    return [status, settledLots, reason ?? ''].join(' ').trim();
  }

  position(who: number, market = 0): number {
    const found = this.engine
      .positions(subaccountId(who))
      .find((position) => position.market === marketId(market));
    return found?.lots ?? 0;
  }
}
