import type { EngineEvent } from '../../engine/events.ts';
import type { Engine, PositionView } from '../../engine/read/views.ts';
import { marketId, subaccountId } from '../../num/units.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** Key of a pair: subaccount times this plus market. */
const MARKETS = 65_536;

/** Positions change by fills and transfers only; a reduce-only fill never grows or flips one. */
export class Positions extends StreamInvariant {
  readonly name = 'positionsFollowFills';
  readonly rule = 'R-2.7, R-5.2, R-6.5';
  readonly says =
    'a position is the sum of its fills and transfers, and a reduce-only fill never grows or flips it';
  private readonly lots = new Map<number, number>();
  /** Position changes by events less those of the engine, in this command. */
  private readonly owed = new Map<number, number>();
  private readonly reduceOnly = new Set<number>();

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'orderAccepted':
        if (event.reduceOnly) this.reduceOnly.add(event.orderId);
        break;
      case 'orderEnded':
        this.reduceOnly.delete(event.orderId);
        break;
      case 'orderFilled': {
        const key = event.subaccount * MARKETS + event.market;
        this.owe(key, event.lots);
        if (!this.reduceOnly.has(event.orderId)) break;
        const before = this.lots.get(key) ?? 0;
        const after = before + event.lots;
        if (before * event.lots >= 0 || after * before < 0) {
          this.fail(`order ${event.orderId}: reduce-only fill takes ${before} to ${after}`);
        }
        break;
      }
      case 'positionTransferred':
        this.owe(event.from * MARKETS + event.market, -event.lots);
        this.owe(event.to * MARKETS + event.market, event.lots);
        break;
      case 'positionChanged': {
        const key = event.subaccount * MARKETS + event.market;
        this.owe(key, (this.lots.get(key) ?? 0) - event.lots);
        this.lots.set(key, event.lots);
        break;
      }
      default:
    }
  }

  override settle(engine: Engine): void {
    if (this.owed.size === 0) return;
    for (const [key, lots] of this.owed) {
      const subaccount = subaccountId(Math.floor(key / MARKETS));
      // The tape's sides have no orders, so no events report their fills.
      if (lots === 0 || isHouse(engine, subaccount)) continue;
      this.fail(
        `subaccount ${subaccount} market ${key % MARKETS}: ${lots} filled lots missing from its position`,
      );
    }
    this.owed.clear();
  }

  override compare(engine: Engine): void {
    const holdings = new Map<number, readonly PositionView[]>();
    for (const [key, lots] of this.lots) {
      const market = marketId(key % MARKETS);
      const subaccount = subaccountId(Math.floor(key / MARKETS));
      let held = holdings.get(subaccount);
      if (held === undefined) {
        held = engine.positions(subaccount);
        holdings.set(subaccount, held);
      }
      const holds = held.find((position) => position.market === market)?.lots ?? 0;
      if (holds !== lots) {
        this.fail(`subaccount ${subaccount} market ${market}: holds ${holds}, events say ${lots}`);
      }
    }
  }

  private owe(key: number, lots: number): void {
    this.owed.set(key, (this.owed.get(key) ?? 0) + lots);
  }
}

/** Maker and taker accounts of the tape. */
const isHouse = (engine: Engine, id: ReturnType<typeof subaccountId>): boolean => {
  const { system, account } = engine.subaccount(id);
  if (!system) return false;
  const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = engine.config;
  const others = [clsAccount, insuranceAccount, treasuryAccount, shortfallAccount];
  return !others.includes(engine.addressOf(account));
};
