/**
 * Feeds of a replay on a virtual clock. Trades, fills and orders are published one by one, in the
 * order of the engine's events; an order is published when its status changes. One connection may
 * drive the replay: it moves the clock, and gets notifications in the order of the updates: their
 * exact time, accepted orders, the role of the fill that follows, settled funding, recorded bars.
 */
import { invalidField, MESSAGES } from '../../contract/messages.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import type { TapeBar } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { Fields } from '../../gateway/fields.ts';
import { RequestError } from '../../gateway/request-error.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { SubaccountId } from '../../num/units.ts';
import { isToken } from '../bearer-token.ts';
import type { Host } from '../exchange-host.ts';
import { mustBeDriven, noReplay, type Advanced, type ReplaySink } from '../replay.ts';

/** Connection that may drive the replay. */
export interface Driver {
  /** Sends a message in the order of the feeds. */
  notify(message: string): void;
}

export interface ReplayPublisher {
  /** Publishes pending changes; true if there was an update. */
  publish(): boolean;
  /** Sends a notification to the driver, in the order of the updates. */
  notify(message: string): void;
}

export class ReplayFeed implements ReplaySink {
  driver: Driver | null = null;
  receivedUs: number | null = null;
  private readonly host: Host;
  private readonly publisher: ReplayPublisher;
  private readonly funding = new Map<SubaccountId, bigint>();

  constructor(host: Host, publisher: ReplayPublisher) {
    this.host = host;
    this.publisher = publisher;
  }

  publish(): boolean {
    return this.publisher.publish();
  }

  /** The notification that precedes each release of updates. */
  stamp(): string {
    return notification('instant', { timeUs: this.host.nowUs(), receivedUs: this.receivedUs });
  }

  /** Whether the event's order update is published; it changes the status for a strategy. */
  static publishesOrder({ kind }: EngineEvent): boolean {
    return kind !== 'orderFilled' && kind !== 'orderAccepted';
  }

  onEvent(event: EngineEvent): void {
    const { view } = this.host;
    if (event.kind === 'orderAccepted' || event.kind === 'orderFilled') {
      if (this.driver === null) return;
      const { account, index: subaccountIndex } = view.subaccount(event.subaccount);
      const owner = { account: view.addressOf(account), subaccountIndex };
      if (event.kind === 'orderAccepted') this.notify('accepted', owner);
      else this.notify('role', { ...owner, role: event.role });
    } else if (event.kind === 'balanceChanged' || event.kind === 'isolatedMarginChanged') {
      if (event.reason !== 'funding') return;
      const before = this.funding.get(event.subaccount) ?? 0n;
      this.funding.set(event.subaccount, before + event.deltaQuanta);
    } else if (event.kind === 'fundingSettled') {
      const payments = [...this.funding].map(([id, amount]) => {
        const { account, index } = view.subaccount(id);
        return {
          account: view.addressOf(account),
          subaccountIndex: index,
          payment: money(amount),
        };
      });
      this.funding.clear();
      const { symbol } = view.market(event.market).spec;
      const rate = formatDecimal(BigInt(event.ratePpb), 9);
      this.notify('funding', { symbol, rate, payments });
    }
  }

  onBar(bar: TapeBar): void {
    const market = this.host.view.market(bar.market);
    this.notify('bar', {
      symbol: market.spec.symbol,
      open: priceText(market, bar.openTicks),
      high: priceText(market, bar.highTicks),
      low: priceText(market, bar.lowTicks),
      close: priceText(market, bar.closeTicks),
      volume: sizeText(market, bar.volumeLots),
    });
  }

  private notify(method: string, params: Readonly<Record<string, unknown>>): void {
    if (this.driver === null) return;
    this.publisher.notify(notification(method, params));
  }

  /**
   * `{token, untilUs, lingerUs, pastEnd}` of a connection. The answer has the number of orders of
   * accounts so far. Rejects with `RequestError`, also if another connection drives.
   */
  async advance(
    driver: Driver,
    params: unknown,
    simToken: string | null,
  ): Promise<Advanced & { readonly orders: number }> {
    const { replay, exchange } = this.host;
    const fields = new Fields(params, ['token', 'untilUs', 'lingerUs', 'pastEnd'], false);
    if (simToken === null || !isToken(fields.text('token'), simToken)) {
      throw new RequestError(MESSAGES.simToken);
    }
    if (replay === null) throw new RequestError(noReplay());
    mustBeDriven(replay);
    if (this.driver !== null && this.driver !== driver) {
      throw new RequestError(
        invalidField('replay', 'is driven by another connection; it has one driver at a time'),
      );
    }
    const request = {
      paced: true,
      untilUs: microseconds(fields, 'untilUs'),
      lingerUs: fields.has('lingerUs') ? microseconds(fields, 'lingerUs') : 0,
      pastEnd: fields.has('pastEnd') && fields.boolean('pastEnd'),
    };
    this.driver = driver;
    replay.isDriven = true;
    const advanced = await replay.advance(request);
    await exchange.durable();
    return { ...advanced, orders: this.host.view.lastOrderId };
  }

  /** Ends the rights of a connection that was closed. */
  leave(driver: unknown): void {
    if (this.driver !== driver || driver === null) return;
    this.driver = null;
    if (this.host.replay !== null) this.host.replay.isDriven = false;
  }
}

function notification(method: string, params: Readonly<Record<string, unknown>>): string {
  return stringifyExact({ jsonrpc: '2.0', method, params });
}

function microseconds(fields: Fields, name: string): number {
  const us = Number(fields.int64(name));
  if (us >= 0 && Number.isSafeInteger(us)) return us;
  return fields.fail(name, `must be from 0 to ${String(Number.MAX_SAFE_INTEGER)}`);
}
