/** Plays a plan in an arena: executes moves and values the coalition's accounts at the end. */
import type { Command, PlaceOrder, Transfer } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
  type SubaccountId,
} from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import { indexAt, tickCommands, TICK_US, type Arena, type Member } from './arena.ts';
import type { Move, Plan } from './coalition-plan.ts';

const MARKET = marketId(0);
/** Max ticks of a plan; two more ticks follow without moves. */
const MAX_TICKS = 16;
const VIRTUAL = 1_000_000n;

export interface PlayResult {
  /** Gain of the coalition, in Quanta. */
  readonly gained: bigint;
  /** The gain less the maker's loss to the coalition by trading at its own quotes. */
  readonly forFree: bigint;
}

/** Plays a plan on one path of the index; `onCommand` also receives the arena's commands. */
export function play(
  arena: Arena,
  plan: Plan,
  path: readonly number[],
  onCommand?: (command: Command) => void,
): PlayResult {
  return new Play(arena, path, onCommand).run(plan);
}

class Play {
  private readonly arena: Arena;
  private readonly path: readonly number[];
  private readonly onCommand: ((command: Command) => void) | undefined;
  private readonly engine: Exchange;
  private readonly shares = new Map<SubaccountId, bigint>();
  private tick = 0;
  private nowUs: number;
  private nonce = 1_000_000n;

  constructor(
    arena: Arena,
    path: readonly number[],
    onCommand: ((command: Command) => void) | undefined,
  ) {
    this.arena = arena;
    this.path = path;
    this.onCommand = onCommand;
    this.engine = Exchange.restore(arena.opened);
    this.nowUs = arena.config.genesisTimeUs;
  }

  run(plan: Plan): PlayResult {
    this.runClock();
    const before = this.wealth();
    const makerBefore = this.valueOf(this.arena.maker);
    for (const move of plan) {
      this.nowUs += move.waitMs * 1000;
      this.runClock();
      if (this.tick > MAX_TICKS) break;
      this.make(move);
    }
    this.nowUs += 2 * TICK_US;
    this.runClock();
    const gained = this.wealth() - before;
    const makerLost = makerBefore - this.valueOf(this.arena.maker);
    return { gained, forFree: makerLost > 0n ? gained - makerLost : gained };
  }

  private apply(command: Command): void {
    this.onCommand?.(command);
    this.engine.apply(command, this.onEvent);
  }

  private readonly onEvent = (event: EngineEvent): void => {
    if (event.kind === 'vaultSharesChanged') this.shares.set(event.subaccount, event.shares);
  };

  /** Runs the ticks that are due. */
  private runClock(): void {
    const { genesisTimeUs } = this.arena.config;
    while (genesisTimeUs + this.tick * TICK_US <= this.nowUs) {
      for (const command of tickCommands(this.arena, this.path, this.tick)) this.apply(command);
      this.tick += 1;
    }
  }

  private make(move: Move): void {
    const who = this.member(move.who);
    switch (move.kind) {
      case 'order':
        this.order(who, move, move.buys, move.flag);
        return;
      case 'pair': {
        const size = this.sizeOf(who, move);
        this.order(this.member(move.other), move, !move.buys, 'none', size);
        this.order(who, move, move.buys, 'ioc', size);
        return;
      }
      case 'close': {
        const position = this.positionOf(who.id);
        if (position !== 0) this.order(who, move, position < 0, 'close', Math.abs(position));
        return;
      }
      case 'cancelAll':
        this.apply({ kind: 'cancelAll', timeUs: this.now, subaccount: who.id, market: null });
        return;
      case 'isolate':
        this.apply({
          kind: 'updateMargin',
          timeUs: this.now,
          subaccount: who.id,
          market: MARKET,
          isolated: move.buys,
          marginPpm: ppm(20_000 + move.part * 100),
          nonce: this.next(),
          expiresAtMs: NEVER_MS,
          delegate: null,
        });
        return;
      case 'wait':
        return;
      default:
        this.transfer(move, who);
    }
  }

  private transfer(move: Move, who: Member): void {
    const other = this.member(move.other);
    const { clsAccount } = this.arena.config;
    const to = { to: other.address, toIndex: other.index };
    const from = { from: who.address, fromIndex: who.index };
    const money = (whole: bigint): Pick<Transfer, 'amount'> => ({
      amount: quanta(move.part < 5 ? BigInt(move.part) : (whole * BigInt(move.part)) / 1000n),
    });
    const movement = (of: Partial<Transfer> & Pick<Transfer, 'amount'>): Transfer => ({
      kind: 'transfer',
      timeUs: this.now,
      ...from,
      ...to,
      market: null,
      signer: who.address,
      nonce: this.next(),
      expiresAtMs: NEVER_MS,
      ...of,
    });
    const { withdrawableQuanta } = this.engine.margin(who.id);
    switch (move.kind) {
      case 'transfer':
        this.apply(movement(money(withdrawableQuanta)));
        return;
      case 'excess': {
        const excess = this.engine.isolatedExcess(who.id, MARKET);
        this.apply(movement({ ...money(excess), market: MARKET }));
        return;
      }
      case 'vaultDeposit':
        this.apply(movement({ ...money(withdrawableQuanta), to: clsAccount, toIndex: 0 }));
        return;
      default: {
        const worth = this.sharesWorth(this.shares.get(who.id) ?? 0n);
        this.apply(
          movement({
            ...money(worth),
            from: clsAccount,
            fromIndex: 0,
            to: who.address,
            toIndex: who.index,
          }),
        );
      }
    }
  }

  private order(
    who: Member,
    move: Move,
    buys: boolean,
    flag: 'none' | 'ioc' | 'reduce' | 'close',
    size = this.sizeOf(who, move),
  ): void {
    const index = this.index;
    const side = buys ? 1 : -1;
    const atMarket = flag === 'close';
    const offset = atMarket ? side * 90_000 : move.offsetPpm;
    const command: PlaceOrder = {
      kind: 'placeOrder',
      timeUs: this.now,
      subaccount: who.id,
      market: MARKET,
      orderType: 'limit',
      lots: lots(side * size),
      priceTicks: priceTicks(index + Math.trunc((index * offset) / 1_000_000)),
      ioc: flag === 'ioc' || atMarket,
      postOnly: false,
      reduceOnly: flag === 'reduce' || atMarket,
      nonce: this.next(),
      expiresAtMs: NEVER_MS,
      delegate: null,
      clientId: null,
      originator: move.originated ? this.member(move.other).address : null,
      originatorFeePpm: ppm(move.originated ? this.arena.config.maxOriginatorFeePpm : 0),
    };
    this.apply(command);
  }

  /** Lots whose initial margin is `part` of the account's value. */
  private sizeOf(who: Member, { part }: Move): number {
    if (part < 5) return Math.max(1, part);
    const { spec } = this.arena;
    const value = Number(this.engine.margin(who.id).accountValueQuanta);
    const rate = (spec.tiers[0]?.initialMarginPpm ?? 0) / 1_000_000;
    const max = Math.floor(value / (this.index * spec.quantaPerTickLot * rate));
    return Math.max(1, Math.floor((Math.max(0, max) * part) / 1000));
  }

  private member(place: number): Member {
    const { coalition } = this.arena;
    return coalition[place % coalition.length] as Member;
  }

  private next(): bigint {
    this.nonce += 1n;
    return this.nonce;
  }

  private get now(): ReturnType<typeof timeUs> {
    return timeUs(this.nowUs);
  }

  private get index(): number {
    return indexAt(this.arena, this.path, Math.max(0, this.tick - 1));
  }

  private positionOf(id: SubaccountId): number {
    return this.engine.positions(id)[0]?.lots ?? 0;
  }

  /** Cash, margin, and positions at the index; the mark could be manipulated. */
  private valueOf(id: SubaccountId): bigint {
    let value: bigint = this.engine.subaccount(id).balanceQuanta;
    for (const position of this.engine.positions(id)) {
      const unit = BigInt(this.arena.spec.quantaPerTickLot);
      value += BigInt(position.lots) * BigInt(this.index) * unit - position.costQuanta;
      value += position.isolatedMarginQuanta;
    }
    return value;
  }

  /** Redemption value of shares with the vault's positions at the index. */
  private sharesWorth(shares: bigint): bigint {
    let total = 0n;
    for (const held of this.shares.values()) total += held;
    const depositor = this.openedShares();
    const vault = this.engine.subaccountIdOf(this.arena.config.clsAccount, 0) ?? subaccountId(0);
    const worth = this.valueOf(vault);
    if (worth <= 0n || shares === 0n) return 0n;
    return (shares * (worth + VIRTUAL)) / (total + depositor + VIRTUAL);
  }

  /** Shares of the depositor from before the play. */
  private openedShares(): bigint {
    const [first] = this.engine.subaccountsOf(this.arena.depositor);
    if (first === undefined || this.shares.has(first.id)) return 0n;
    const [snapshot] = this.engine.vaultSnapshots(first.id, timeUs(0), timeUs(2 ** 52), 1).items;
    return snapshot?.shares ?? 0n;
  }

  private wealth(): bigint {
    let wealth = 0n;
    for (const { id } of this.arena.coalition) {
      wealth += this.valueOf(id) + this.sharesWorth(this.shares.get(id) ?? 0n);
    }
    return wealth;
  }
}
