/**
 * An exchange with two markets and three funded users, for tables of groups. Orders are given by
 * their relevant fields. Every command is compared with the oracle.
 */
import type { Command, NewOrder } from '../../src/engine/commands.ts';
import { outcomeCode } from '../../src/engine/refusals.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { divergenceText } from '../../src/oracle/divergence.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import type { OrderView } from '../../src/engine/read/views.ts';
import { DEFAULT_EXCHANGE_CONFIG, parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';

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

export class GroupWorld {
  readonly exchange: Exchange;
  readonly events: EngineEvent[] = [];
  private readonly lockstep: Lockstep;
  atUs: number = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
  private nonce = 0n;

  constructor(config: Partial<ExchangeConfig> = {}, market: Record<string, unknown> = {}) {
    this.exchange = new Exchange({
      ...DEFAULT_EXCHANGE_CONFIG,
      indexStaleUs: 1e15 as never,
      ...config,
    });
    this.lockstep = new Lockstep(this.exchange);
    for (const symbol of ['ONE', 'TWO']) {
      const spec = parseMarketSpec(
        { symbol, tickSize: '1', lotSize: '1', makerFee: '0', takerFee: '0', ...market },
        keccak,
      );
      if (!spec.ok) throw new Error(spec.error);
      this.apply({ kind: 'listMarket', timeUs: timeUs(this.atUs), spec: spec.value });
    }
    for (const account of USERS) {
      this.apply({
        kind: 'deposit',
        timeUs: timeUs(this.atUs),
        account,
        subaccountIndex: 0,
        amount: quanta(1_000_000_000_000n),
      });
    }
    this.index(0, 1000);
    this.index(1, 1000);
  }

  apply(command: Command): string {
    const { outcome, divergence } = this.lockstep.apply(command, (event) => {
      this.events.push(event);
    });
    if (divergence !== null) throw new Error(divergenceText(divergence));
    const broken = this.exchange.checkInvariants();
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    return outcomeCode(outcome);
  }

  index(market: number, price: number): void {
    this.apply({
      kind: 'setIndex',
      timeUs: timeUs(this.atUs),
      market: marketId(market),
      priceTicks: priceTicks(price),
      text: String(price),
    });
  }

  wait(us: number): void {
    this.atUs += us;
    this.apply({ kind: 'advanceTime', timeUs: timeUs(this.atUs) });
  }

  group(who: number, ...drafts: readonly Draft[]): string {
    return this.apply({
      kind: 'placeOrders',
      timeUs: timeUs(this.atUs),
      subaccount: subaccountId(who),
      delegate: null,
      orders: drafts.map((draft) =>
        drafted(draft, draft.attached === true ? this.nonce : ++this.nonce),
      ),
    });
  }

  cancel(id: number): string {
    return this.apply({ kind: 'cancelOrder', timeUs: timeUs(this.atUs), orderId: orderId(id) });
  }

  get last(): number {
    return this.exchange.lastOrderId;
  }

  order(id: number): OrderView {
    const order = this.exchange.order(orderId(id));
    if (order === undefined) throw new Error(`no order ${String(id)}`);
    return order;
  }

  /** `status settled reason` of an order. */
  shown(id: number): string {
    const { status, settledLots, reason } = this.order(id);
    return [status, settledLots, reason ?? ''].join(' ').trim();
  }

  position(who: number, market = 0): number {
    const found = this.exchange
      .positions(subaccountId(who))
      .find((position) => position.market === marketId(market));
    return found?.lots ?? 0;
  }
}
