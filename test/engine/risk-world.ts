/**
 * The world of tests of margin, funding, liquidation, vault and permissions: accounts by name,
 * money and prices as decimal text. By default marks are external (`markSource: external`) and fees
 * are 0.
 */
import type { EndpointId } from '../../src/contract/endpoints.ts';
import type { MarginView } from '../../src/engine/read/views.ts';
import type { Reply } from '../../src/gateway/context.ts';
import { parseExchangeConfig } from '../../src/gateway/exchange-config.ts';
import { parseDecimal, stepsExact } from '../../src/num/decimal.ts';
import {
  address,
  marketId,
  ppb,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type MarketId,
  type SubaccountId,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { World } from '../setup/world.ts';

export const GENESIS = timeUs(1_704_067_200_000_000);
const NEVER = 9_007_199_254_740_991;
const ZERO = `0x${'0'.repeat(40)}`;
export const CASH_FEED = `0x${'0'.repeat(64)}`;

const BASE_MARKET = {
  symbol: 'M',
  tickSize: '1',
  lotSize: '0.001',
  maxQuantity: '1000000',
  maxPrice: '1000000',
  maxOpenInterest: '100000000',
  maxOpenOrders: 1000,
  makerFee: '0',
  takerFee: '0',
  initialMargin: '0.1',
  maintenanceMargin: '0.05',
  markSource: 'external',
  priceBand: '1',
  funding: { source: 'external' },
};

export function nameAddress(name: string): Address {
  const bytes = new TextEncoder().encode(name);
  return address(`0x${keccak(bytes).slice(0, 40)}`);
}

export class RiskWorld extends World {
  private nonce = 0;

  constructor(
    markets: readonly Record<string, unknown>[] = [{}],
    config: Record<string, unknown> = {},
  ) {
    const parsed = parseExchangeConfig({ indexStaleMs: 1_000_000_000, ...config }, GENESIS);
    if (!parsed.ok) throw new Error(parsed.error);
    super(
      parsed.value,
      markets.map((market) => {
        const base: Record<string, unknown> = { ...BASE_MARKET, ...market };
        if ('marginTiers' in market) {
          delete base['initialMargin'];
          delete base['maintenanceMargin'];
        }
        return base;
      }),
    );
  }

  marketOf(symbol: string): MarketId {
    const id = this.engine.marketIdOf(symbol);
    if (id === undefined) throw new Error(`no market ${symbol}`);
    return id;
  }

  private ticks(market: MarketId, price: string): number {
    const step = parseDecimal(this.engine.market(market).spec.tickSize);
    const decimal = parseDecimal(price);
    const whole = step && decimal && stepsExact(decimal, step);
    if (whole === null) throw new Error(`${price} is off the tick`);
    return Number(whole);
  }

  /** Index and, for external marks, mark. */
  price(price: string, symbol = 'M', index = price): string {
    const market = this.marketOf(symbol);
    const outcome = this.setIndex(market, this.ticks(market, index), index);
    if (this.engine.market(market).spec.markSource !== 'external') return outcome;
    const ticks = priceTicks(this.ticks(market, price));
    return this.apply({ kind: 'setMark', timeUs: this.now, market, priceTicks: ticks });
  }

  deposit(name: string, amount: string, index = 0): string {
    return this.credit(this.addressOf(name), index, usd(amount));
  }

  settle(rate: string, symbol = 'M'): string {
    const whole = stepsExact(parseDecimal(rate)!, { digits: 1n, scale: 9 });
    return this.apply({
      kind: 'settleFunding',
      timeUs: this.now,
      market: marketId(this.marketOf(symbol)),
      ratePpb: ppb(Number(whole)),
    });
  }

  addressOf(name: string): Address {
    const { config } = this.engine;
    if (name === 'vault') return config.clsAccount;
    if (name === 'insurance') return config.insuranceAccount;
    if (name === 'treasury') return config.treasuryAccount;
    return nameAddress(name);
  }

  idOf(name: string, index = 0): SubaccountId {
    const id = this.engine.subaccountIdOf(this.addressOf(name), index);
    if (id === undefined) throw new Error(`no subaccount ${name}/${String(index)}`);
    return id;
  }

  call(endpoint: EndpointId, input: unknown, as: string | null): Reply {
    return this.callAs(as === null ? null : this.addressOf(as), endpoint, input);
  }

  /** The response body of a request that must succeed. */
  ask(endpoint: EndpointId, input: unknown, as: string): unknown {
    const { status, body } = this.call(endpoint, input, as);
    if (status !== 200) throw new Error(`${endpoint}: ${String(body)}`);
    return body;
  }

  orderBody(who: string, changes: Record<string, unknown>): Record<string, unknown> {
    this.nonce += 1;
    return {
      account: this.addressOf(who),
      subaccountIndex: 0,
      symbol: 'M',
      orderType: 'Limit',
      price: '100',
      quantity: '1',
      nonce: this.nonce,
      expiresAt: NEVER,
      originator: ZERO,
      originatorFee: 0,
      flags: { ioc: false, postOnly: false, reduceOnly: false },
      signatures: [],
      ...changes,
    };
  }

  /** A limit order's record, or the refusal's text. */
  order(
    who: string,
    quantity: string,
    price: string,
    changes: Record<string, unknown> = {},
  ): OrderRecord | string {
    const body = this.orderBody(who, { quantity, price, ...changes });
    const reply = this.call('submitOrder', body, who);
    if (reply.status !== 200) return String(reply.body);
    return (reply.body as OrderRecord[])[0]!;
  }

  /** `who` takes `quantity` (signed) from `from` at the price. */
  trade(who: string, from: string, quantity: string, price: string, symbol = 'M'): void {
    const opposite = quantity.startsWith('-') ? quantity.slice(1) : `-${quantity}`;
    const rests = this.order(from, opposite, price, { symbol });
    const takes = this.order(who, quantity, price, { symbol });
    for (const side of [rests, takes]) {
      if (typeof side === 'string' || side.reason !== null) {
        throw new Error(`trade of ${who} with ${from}: ${JSON.stringify(side)}`);
      }
    }
  }

  marginBody(
    who: string,
    isolated: boolean,
    margin: string,
    changes: Record<string, unknown> = {},
  ): Record<string, unknown> {
    this.nonce += 1;
    return {
      account: this.addressOf(who),
      subaccountIndex: 0,
      symbol: 'M',
      isolated,
      margin,
      nonce: this.nonce,
      expiresAt: NEVER,
      signatures: [],
      ...changes,
    };
  }

  setMargin(who: string, isolated: boolean, margin: string, symbol = 'M'): string {
    return this.answer('updateMargin', this.marginBody(who, isolated, margin, { symbol }), who);
  }

  transferBody(
    from: string,
    to: string,
    amount: string,
    changes: Record<string, unknown> = {},
  ): Record<string, unknown> {
    this.nonce += 1;
    return {
      accountFrom: this.addressOf(from),
      accountTo: this.addressOf(to),
      amount,
      expiresAt: NEVER,
      feedId: CASH_FEED,
      nonce: this.nonce,
      signatures: [],
      subaccountIndexFrom: 0,
      subaccountIndexTo: 0,
      target: this.addressOf(from === 'vault' ? to : from),
      ...changes,
    };
  }

  transfer(
    from: string,
    to: string,
    amount: string,
    changes: Record<string, unknown> = {},
  ): string {
    const body = this.transferBody(from, to, amount, changes);
    return this.answer('transfer', body, from === 'vault' ? to : from);
  }

  delegateBody(
    who: string,
    delegate: string,
    delegated: boolean,
    changes: Record<string, unknown> = {},
  ): Record<string, unknown> {
    this.nonce += 1;
    return {
      account: this.addressOf(who),
      delegate: this.addressOf(delegate),
      delegated,
      expiresAt: NEVER,
      nonce: this.nonce,
      signatures: [],
      subaccountIndex: 0,
      ...changes,
    };
  }

  delegate(who: string, delegate: string, delegated = true, index = 0): string {
    const body = this.delegateBody(who, delegate, delegated, { subaccountIndex: index });
    return this.answer('updateDelegates', body, who);
  }

  signersBody(
    who: string,
    signers: readonly string[],
    quorum: number,
    changes: Record<string, unknown> = {},
  ): Record<string, unknown> {
    this.nonce += 1;
    return {
      account: this.addressOf(who),
      expiresAt: NEVER,
      nonce: this.nonce,
      quorum,
      signatures: [],
      signers: signers.map((name) => this.addressOf(name)),
      ...changes,
    };
  }

  /** `ok`, or `status text` of a refusal. */
  answer(endpoint: EndpointId, input: unknown, as: string | null): string {
    const { status, body } = this.call(endpoint, input, as);
    return status === 200 ? 'ok' : `${String(status)} ${String(body)}`;
  }

  margin(who: string, index = 0): MarginView {
    return this.engine.margin(this.idOf(who, index));
  }

  stats(who: string): Record<string, string> {
    const query = { account: this.addressOf(who), subaccountIndex: 0 };
    return this.ask('getStats', query, who) as Record<string, string>;
  }

  positions(who: string): PositionRecord[] {
    const query = { account: this.addressOf(who), subaccountIndex: 0 };
    return this.ask('getPositions', query, who) as PositionRecord[];
  }

  position(who: string, symbol = 'M'): PositionRecord | undefined {
    return this.positions(who).find((position) => position.symbol === symbol);
  }

  balance(who: string): string {
    const id = this.idOf(who);
    return dollars(this.engine.subaccount(id).balanceQuanta);
  }

  /** The liquidation steps: `who step` each. */
  steps(from = 0): string[] {
    return this.events.slice(from).flatMap((event) => {
      if (event.kind !== 'liquidationStep') return [];
      return [`${this.nameOf(event.subaccount)} ${event.step}`];
    });
  }

  /** Name of a subaccount used so far; otherwise its address. */
  nameOf(id: SubaccountId): string {
    const of = this.engine.addressOf(this.engine.subaccount(id).account);
    for (const system of ['vault', 'insurance', 'treasury']) {
      if (this.addressOf(system) === of) return system;
    }
    return this.names.get(of) ?? of;
  }

  /** Funds users and registers their names. */
  fund(amounts: Readonly<Record<string, string>>): this {
    for (const [name, amount] of Object.entries(amounts)) {
      this.names.set(this.addressOf(name), name);
      this.deposit(name, amount);
    }
    return this;
  }
}

interface OrderRecord {
  readonly orderId: string;
  readonly status: string;
  readonly reason: string | null;
  readonly settled: string;
  readonly remaining: string;
}

export interface PositionRecord {
  readonly symbol: string;
  readonly quantity: string;
  readonly basis: string;
  readonly entryPrice: string;
  readonly liquidationPrice: string | null;
  readonly margin: string;
  readonly isolated: boolean;
  readonly upnl: string;
  readonly fees: string;
  readonly funding: string;
}

export function usd(text: string): ReturnType<typeof quanta> {
  const whole = stepsExact(parseDecimal(text)!, { digits: 1n, scale: 6 });
  if (whole === null) throw new Error(`${text} has more than 6 decimals`);
  return quanta(whole);
}

export function dollars(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(7, '0');
  const cents = digits.slice(-6).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -6)}${cents === '' ? '' : `.${cents}`}`;
}
