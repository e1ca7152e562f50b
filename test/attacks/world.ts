/**
 * The exchange of the attack tests: 50x markets with the default three-leg mark, an oracle that is
 * stale after 60 s, and zero trading fees unless a test sets them. Solvency (R-1.6a) is computed
 * from the public views after every command, in addition to the engine's own invariants.
 */
import { expect } from 'vitest';
import type { Command, SetMarketStatus } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { divergenceText } from '../../src/oracle/divergence.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import { marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import type { MarketId, SubaccountId } from '../../src/num/units.ts';
import { RiskWorld, dollars, usd } from '../engine/risk-world.ts';
import { insolvencies } from './solvency.ts';

export const MARKET = {
  tickSize: '0.1',
  lotSize: '0.0001',
  initialMargin: '0.02',
  maintenanceMargin: '0.01',
  markSource: 'median',
  priceBand: '0.1',
  funding: {},
};

const STALE_US = 60_000_000;

/** All worlds opened by the tests of a file. */
const opened: AttackWorld[] = [];

/** Replays each world's commands on an exchange and the oracle in lockstep. For `afterAll`. */
export function expectOracleAgrees(): void {
  for (const { engine, commands } of opened.splice(0)) {
    const lockstep = new Lockstep(new Exchange(engine.config));
    for (const command of commands) {
      const { divergence } = lockstep.apply(command);
      if (divergence !== null) throw new Error(divergenceText(divergence));
    }
    const divergence = lockstep.compareAll();
    if (divergence !== null) throw new Error(divergenceText(divergence));
  }
}

export class AttackWorld extends RiskWorld {
  /** Time of the oracle's last price, by market id. */
  declare spokeUs: Map<number, number> | undefined;
  /** Market ids that the operator halted. */
  declare halted: Set<number> | undefined;

  constructor(
    markets: readonly Record<string, unknown>[] = [{ symbol: 'A' }],
    config: Record<string, unknown> = {},
  ) {
    super(
      markets.map((market) => ({ ...MARKET, ...market })),
      { indexStaleMs: STALE_US / 1000, ...config },
    );
    opened.push(this);
  }

  override submit(command: Command): ReturnType<RiskWorld['submit']> {
    this.commands.push(command);
    const outcome = this.engine.apply(command, (event) => void this.events.push(event));
    this.note(command);
    expect(this.engine.checkInvariants(), `after ${command.kind}`).toEqual([]);
    expect(insolvencies(this), `after ${command.kind}`).toEqual([]);
    return outcome;
  }

  private note(command: Command): void {
    if (command.kind === 'setIndex') {
      this.spokeUs ??= new Map();
      this.spokeUs.set(command.market, command.timeUs);
    }
    if (command.kind === 'setMarketStatus') {
      this.halted ??= new Set();
      if (command.status === 'halted') this.halted.add(command.market);
      else this.halted.delete(command.market);
    }
  }

  /** Whether the market is halted or its price is stale (R-5.3b). */
  isFrozen(market: number): boolean {
    if (this.halted?.has(market) === true) return true;
    const at = this.spokeUs?.get(market);
    return at !== undefined && this.engine.nowUs - at > STALE_US;
  }

  /** The operator changes a market's status. */
  status(symbol: string, status: SetMarketStatus['status']): string {
    const market = this.marketOf(symbol);
    return this.apply({ kind: 'setMarketStatus', timeUs: timeUs(this.atUs), market, status });
  }

  /**
   * Time passes while the oracle repeats these prices every 30 s; other markets' oracles are
   * silent.
   */
  run(ms: number, prices: Readonly<Record<string, string>>): void {
    for (let left = ms; left > 0; left -= 30_000) {
      this.wait(Math.min(left, 30_000));
      for (const [symbol, price] of Object.entries(prices)) this.price(price, symbol);
    }
  }

  /** Withdraws; `all` is the withdrawable amount. */
  withdraw(who: string, amount = 'all', index = 0): string {
    const quantity = amount === 'all' ? this.margin(who, index).withdrawableQuanta : usd(amount);
    if (quantity === 0n) return 'nothing withdrawable';
    return this.apply({
      kind: 'withdraw',
      timeUs: timeUs(this.atUs),
      account: this.addressOf(who),
      subaccountIndex: index,
      amount: quanta(quantity),
    });
  }

  cancelAll(who: string): void {
    this.apply({
      kind: 'cancelAll',
      timeUs: timeUs(this.atUs),
      subaccount: this.idOf(who),
      market: null,
    });
  }

  /** Cash and equity at marks of a subaccount, in USD. */
  equity(who: string, index = 0): string {
    return dollars(this.margin(who, index).accountValueQuanta);
  }

  /** A resting bid and ask of two accounts, `spread` apart around the price. */
  quote(
    bidder: string,
    asker: string,
    size: string,
    bid: string,
    ask: string,
    symbol: string,
  ): void {
    for (const record of [
      this.order(bidder, size, bid, { symbol }),
      this.order(asker, `-${size}`, ask, { symbol }),
    ]) {
      if (typeof record === 'string' || record.reason !== null) {
        throw new Error(`quote: ${JSON.stringify(record)}`);
      }
    }
  }

  markOf(symbol: string): number {
    return Number(this.engine.market(marketId(this.marketOf(symbol))).markTicks) / 10;
  }

  /** Value of a subaccount in Quanta when each position is priced at these ticks. */
  worthAt(id: SubaccountId, ticksOf: (market: MarketId) => number): bigint {
    let worth: bigint = this.engine.subaccount(id).balanceQuanta;
    for (const { market, lots, costQuanta, isolatedMarginQuanta } of this.engine.positions(id)) {
      const unit = this.engine.market(market).spec.quantaPerTickLot;
      worth += BigInt(lots) * BigInt(priceTicks(ticksOf(market))) * BigInt(unit);
      worth += isolatedMarginQuanta - costQuanta;
    }
    return worth;
  }

  /** Cash of the shortfall account, in USD: 0 or less. */
  shortfall(): string {
    const id = this.engine.subaccountIdOf(this.engine.config.shortfallAccount, 0);
    return id === undefined ? '0' : dollars(this.engine.subaccount(id).balanceQuanta);
  }

  /** Names of the liquidation steps of one account, in order. */
  stepsOf(who: string): string[] {
    return this.events.flatMap((event) =>
      event.kind === 'liquidationStep' && event.subaccount === this.idOf(who) ? [event.step] : [],
    );
  }
}
