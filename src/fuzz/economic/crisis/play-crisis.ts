/** Plays a plan in a crisis world: executes moves, runs honest parties, audits the result. */
import type { Command, Transfer } from '../../../engine/commands.ts';
import { Exchange } from '../../../engine/exchange.ts';
import { marketId, quanta, timeUs, type SubaccountId, type TimeUs } from '../../../num/units.ts';
import { NEVER_MS } from '../../run-setup.ts';
import { UNIT } from './account-books.ts';
import { Auditor, type Finding } from './auditor.ts';
import type { CrisisMove, CrisisPlan } from './moves.ts';
import { nextEventTick, TICK_US, TICKS, type OraclePath } from './oracle-path.ts';
import {
  isolate,
  MARKETS,
  newOrder,
  quotesAround,
  setIndex,
  type CrisisWorld,
  type Member,
  type Opened,
} from './crisis-world.ts';

const PPM = 1_000_000;
const STALE_US = 60_000_000;
const SAMPLE_US = 5_000_000;
/** Last tick with moves; in the last ticks every oracle resumes and all positions settle. */
const LAST_MOVE_TICK = TICKS - 3;
/** Distance from the index, beyond all fees, from which arbitrageurs take a quote. */
const MISPRICED_PPM = 400;
const ARBITRAGE_LOTS = 5_000_000;
const DEPOSIT = 10_000_000_000n;

export function playCrisis(
  world: CrisisWorld,
  plan: CrisisPlan,
  key = 0,
  onCommand?: (command: Command) => void,
): Finding {
  return new CrisisPlay(world, world.opened(key), onCommand).run(plan);
}

class CrisisPlay {
  private readonly world: CrisisWorld;
  private readonly opened: Opened;
  private readonly onCommand: ((command: Command) => void) | undefined;
  private readonly engine: Exchange;
  private readonly auditor: Auditor;
  private readonly paths: readonly OraclePath[];
  private readonly startUs: number;
  private nowUs: number;
  private tick = 0;
  private nonce = 1_000_000n;
  /** Markets whose book may have a mispriced quote, and the next arbitrage time. */
  private readonly suspect = new Set<number>();
  private nextArbitrage = 0;
  private readonly lastPriceUs: number[];

  constructor(
    world: CrisisWorld,
    opened: Opened,
    onCommand: ((command: Command) => void) | undefined,
  ) {
    this.world = world;
    this.opened = opened;
    this.onCommand = onCommand;
    this.engine = Exchange.restore(opened.snapshot);
    this.auditor = new Auditor(world, opened);
    this.paths = world.markets.map(({ path }) => path);
    this.startUs = opened.config.genesisTimeUs;
    this.nowUs = this.startUs;
    this.lastPriceUs = world.markets.map(() => this.startUs);
  }

  run(plan: CrisisPlan): Finding {
    this.advance(this.nowUs);
    for (const move of plan) {
      this.wait(move);
      if (this.tick > LAST_MOVE_TICK) break;
      this.make(move);
    }
    // Resting orders stay until the last moves.
    this.advance(this.startUs + LAST_MOVE_TICK * TICK_US);
    for (const { id } of this.world.coalition) this.cancelAll(id);
    this.advance(this.startUs + TICKS * TICK_US);
    return this.auditor.find(this.insuranceAllowed());
  }

  /** a quarter of insurance at the start of the hour; a play is shorter than an hour. */
  private insuranceAllowed(): number {
    return this.opened.books.account(this.world.insurance).cash / 4;
  }

  /** Applies a command; returns true if it was accepted. */
  private apply(command: Command, thawed = false): boolean {
    this.onCommand?.(command);
    this.auditor.begin();
    const outcome = this.engine.apply(command, this.auditor.take);
    this.auditor.end(thawed);
    return outcome === 'ok';
  }

  private wait(move: CrisisMove): void {
    if (move.until !== 'time') {
      const tick = nextEventTick(this.paths, this.tick, move.until);
      if (tick !== undefined) this.advance(this.startUs + tick * TICK_US + 1000);
    }
    if (move.waitMs > 0) this.advance(this.nowUs + move.waitMs * 1000);
  }

  /** Runs ticks and arbitrage in order up to a time. */
  private advance(toUs: number): void {
    const untilUs = Math.min(toUs, this.startUs + TICKS * TICK_US);
    for (;;) {
      const tickUs = this.tick < TICKS ? this.startUs + this.tick * TICK_US : Infinity;
      const arbitrageUs = this.suspect.size > 0 ? this.arbitrageUs() : Infinity;
      const nextUs = Math.min(tickUs, arbitrageUs);
      if (nextUs > untilUs) break;
      this.nowUs = Math.max(this.nowUs, nextUs);
      if (tickUs <= arbitrageUs) this.runTick();
      else this.arbitrage();
    }
    this.nowUs = Math.max(this.nowUs, untilUs);
  }

  private arbitrageUs(): number {
    const { arbitrageUs } = this.opened;
    for (; this.nextArbitrage < arbitrageUs.length; this.nextArbitrage++) {
      const at = this.startUs + (arbitrageUs[this.nextArbitrage] ?? 0);
      if (at >= this.nowUs) return at;
    }
    return Infinity;
  }

  private runTick(): void {
    const { tick } = this;
    this.tick += 1;
    this.world.markets.forEach((market, m) => {
      // In the last ticks every oracle publishes prices.
      const price = market.path[tick] ?? (tick >= LAST_MOVE_TICK ? this.priceOf(m) : null);
      if (price === null) return;
      const requotes = tick === 0 || price !== this.priceOf(m) || this.auditor.makerFilled.has(m);
      const { maker } = this.world;
      if (requotes && tick > 0) this.cancelAll(maker, m);
      const thawed = this.isFrozen(m);
      this.lastPriceUs[m] = this.nowUs;
      this.apply(setIndex(this.now, m, price), thawed);
      if (!requotes) return;
      this.auditor.makerFilled.delete(m);
      if (market.hasArbitrageur && tick > 0) this.suspect.add(m);
      for (const [size, at] of quotesAround(market, price)) {
        this.apply(newOrder(this.now, maker, { market: m, size, price: at, nonce: this.next() }));
      }
    });
  }

  private arbitrage(): void {
    this.nextArbitrage += 1;
    for (const m of this.suspect) {
      const { bestBid, bestAsk } = this.engine.market(marketId(m));
      const index = this.priceOf(m);
      const room = Math.ceil((index * MISPRICED_PPM) / PPM);
      const sells = bestBid !== null && bestBid.priceTicks >= index + room;
      const buys = bestAsk !== null && bestAsk.priceTicks <= index - room;
      if (!sells && !buys) this.suspect.delete(m);
      else if (!this.isFrozen(m)) {
        const side = buys ? 1 : -1;
        this.apply(
          newOrder(this.now, this.world.arbitrageur, {
            market: m,
            size: side * ARBITRAGE_LOTS,
            price: index - side * room,
            nonce: this.next(),
            ioc: true,
          }),
        );
      }
    }
  }

  private make(move: CrisisMove): void {
    const who = this.member(move.who);
    const other = this.member(move.other);
    const { market } = move;
    switch (move.kind) {
      case 'pair': {
        if (who === other) return;
        const price = this.priceAt(move);
        const side = move.buys ? 1 : -1;
        const capacity = Math.min(
          this.capacity(who, market, side, price),
          this.capacity(other, market, -side, price),
        );
        const size = this.sizeOf(move, capacity) * side;
        this.order(other, market, -size, price, false);
        const resting = this.engine.lastOrderId;
        this.order(who, market, size, price, true);
        if (size !== 0) {
          this.apply({ kind: 'cancelOrder', timeUs: this.now, orderId: resting });
        }
        return;
      }
      case 'order': {
        const side = move.buys ? 1 : -1;
        const size = this.sizeOf(move, this.capacity(who, market, side, 0)) * side;
        const price =
          move.ioc && move.offsetPpm === 0 ? this.farPrice(market, size) : this.priceAt(move);
        this.order(who, market, size, price, move.ioc);
        return;
      }
      case 'close':
        this.close(who, market);
        return;
      case 'closeAll':
        for (const each of this.world.coalition) {
          for (let m = 0; m < MARKETS; m++) this.close(each, m);
        }
        return;
      case 'cancelAll':
        this.cancelAll(who.id);
        return;
      case 'quotes': {
        const size = move.part < 5 ? Math.max(1, move.part) : 30_000;
        const price = this.priceAt(move);
        this.order(who, market, size, price - 1, false);
        this.order(other === who ? who : other, market, -size, price + 1, false);
        return;
      }
      case 'flicker':
        this.flicker(who, move);
        return;
      case 'isolate':
      case 'cross': {
        const ratio = Math.min(PPM, 50_000 + move.part * 300);
        const isolated = move.kind === 'isolate';
        const nonce = this.next();
        this.apply(isolate(this.now, who.id, { market, marginPpm: ratio, nonce, isolated }));
        return;
      }
      case 'wait':
        return;
      default:
        this.moveMoney(move, who, other);
    }
  }

  /** A quote that rests for 2 ms around each instant of a fixed sampling schedule. */
  private flicker(who: Member, move: CrisisMove): void {
    const times = 6 + Math.floor(move.part / 10);
    const size = move.buys ? 40_000 : -40_000;
    for (let i = 0; i < times && this.tick <= LAST_MOVE_TICK; i++) {
      const at = (Math.floor(this.nowUs / SAMPLE_US) + 1) * SAMPLE_US;
      this.advance(at - 1000);
      this.order(who, move.market, size, this.priceAt(move), false);
      this.advance(at + 1000);
      this.cancelAll(who.id, move.market);
    }
  }

  private close(who: Member, market: number): void {
    const { lots } = this.auditor.books.holding(who.id, market);
    if (lots === 0) return;
    const price = this.farPrice(market, -lots);
    this.apply(
      newOrder(this.now, who.id, {
        market,
        size: -lots,
        price,
        nonce: this.next(),
        ioc: true,
        reduceOnly: true,
      }),
    );
  }

  private moveMoney(move: CrisisMove, who: Member, other: Member): void {
    const { clsAccount } = this.opened.config;
    switch (move.kind) {
      case 'deposit':
        this.apply({
          kind: 'deposit',
          timeUs: this.now,
          account: who.address,
          subaccountIndex: who.index,
          amount: quanta(DEPOSIT),
        });
        return;
      case 'withdraw':
        this.withdraw(who, move.part);
        return;
      case 'withdrawAll':
        for (const each of this.world.coalition) this.withdraw(each, move.part);
        return;
      case 'transfer': {
        const amount = partOf(this.withdrawable(who), move.part);
        if (amount > 0n && who !== other) {
          const target = { to: other.address, toIndex: other.index };
          if (this.transfer(who, { ...target, amount })) this.noteMovedOut(who, amount);
        }
        return;
      }
      case 'excess': {
        const market = marketId(move.market);
        const amount = partOf(this.engine.isolatedExcess(who.id, market), move.part);
        if (amount > 0n) {
          this.transfer(who, { to: who.address, toIndex: who.index, amount, market });
        }
        return;
      }
      case 'vaultDeposit': {
        const amount = partOf(this.withdrawable(who), move.part);
        if (amount <= 0n) return;
        const before = this.auditor.outsidersInVault();
        this.transfer(who, { to: clsAccount, toIndex: 0, amount });
        this.auditor.noteShareLoss(before - this.auditor.outsidersInVault());
        return;
      }
      default: {
        const before = this.auditor.outsidersInVault();
        this.redeem(who, move.part);
        this.auditor.noteShareLoss(before - this.auditor.outsidersInVault());
      }
    }
  }

  private redeem(who: Member, part: number): void {
    const [snapshot] = this.engine.vaultSnapshots(who.id, timeUs(0), timeUs(2 ** 52), 1).items;
    const { shares } = this.auditor.books.account(who.id);
    if (snapshot === undefined || shares === 0) return;
    const { clsAccount } = this.opened.config;
    const vault = this.auditor.books.crossValue(this.world.vault, this.auditor.prices);
    const worth = Math.floor(
      (shares * Math.max(0, vault)) / (this.auditor.books.totalShares + PPM),
    );
    const amount = quanta((BigInt(worth) * BigInt(part)) / 1000n);
    if (amount <= 0n) return;
    this.transfer(who, {
      from: clsAccount,
      fromIndex: 0,
      to: who.address,
      toIndex: who.index,
      amount,
    });
  }

  private withdraw(who: Member, part: number): void {
    const amount = partOf(this.withdrawable(who), part);
    if (amount <= 0n) return;
    const isPaid = this.apply({
      kind: 'withdraw',
      timeUs: this.now,
      account: who.address,
      subaccountIndex: who.index,
      amount: quanta(amount),
    });
    if (isPaid) this.noteMovedOut(who, amount);
  }

  /**
   * Amount that leaves although the remaining equity does not cover a 50 % jump of a frozen market.
   */
  private noteMovedOut(who: Member, amount: bigint): void {
    const { books, prices } = this.auditor;
    let frozen = 0;
    for (let m = 0; m < MARKETS; m++) {
      const { lots, isolated } = books.holding(who.id, m);
      if (!isolated && this.isFrozen(m)) frozen += Math.abs(lots) * this.priceOf(m) * UNIT;
    }
    const uncovered = frozen / 2 - books.crossValue(who.id, prices);
    if (frozen > 0 && uncovered > 0) {
      this.auditor.noteMovedOut(who.id, Math.min(Number(amount), uncovered));
    }
  }

  private transfer(
    who: Member,
    of: Omit<Partial<Transfer>, 'amount'> & { readonly amount: bigint },
  ): boolean {
    return this.apply({
      kind: 'transfer',
      timeUs: this.now,
      from: who.address,
      fromIndex: who.index,
      to: who.address,
      toIndex: who.index,
      market: null,
      signer: who.address,
      nonce: this.next(),
      expiresAtMs: NEVER_MS,
      ...of,
      amount: quanta(of.amount),
    });
  }

  private order(who: Member, market: number, size: number, price: number, ioc: boolean): void {
    if (size === 0) return;
    if (!ioc && this.world.markets[market]?.hasArbitrageur === true) this.suspect.add(market);
    this.apply(newOrder(this.now, who.id, { market, size, price, nonce: this.next(), ioc }));
  }

  private cancelAll(subaccount: SubaccountId, market: number | null = null): void {
    const id = market === null ? null : marketId(market);
    this.apply({ kind: 'cancelAll', timeUs: this.now, subaccount, market: id });
  }

  private withdrawable({ id }: Member): bigint {
    // Markets freeze by a timer; timers run only with a command.
    this.apply({ kind: 'advanceTime', timeUs: this.now });
    return this.engine.margin(id).withdrawableQuanta;
  }

  /** Lots that free collateral can carry at a price (0: the mark), with fees and mark loss. */
  private capacity({ id }: Member, market: number, side: number, price: number): number {
    const { accountValueQuanta, initialRequirementQuanta } = this.engine.margin(id);
    const free = Number(accountValueQuanta - initialRequirementQuanta);
    const ratePpm = this.world.markets[market]?.spec.tiers[0]?.initialMarginPpm ?? PPM;
    const { isolated } = this.auditor.books.holding(id, market);
    const mark = this.auditor.marks[market] ?? 0;
    const loss = price === 0 ? 0 : Math.max(0, (side * (price - mark)) / mark);
    const rate = (isolated ? 350_000 : ratePpm + 1000) / PPM + loss;
    return Math.floor(Math.max(0, free) / (this.priceOf(market) * UNIT * rate));
  }

  private sizeOf({ part }: CrisisMove, capacity: number): number {
    return part < 5 ? Math.max(1, part) : Math.floor((capacity * part) / 1000);
  }

  private priceAt({ market, offsetPpm }: CrisisMove): number {
    const index = this.priceOf(market);
    return index + Math.trunc((index * offsetPpm) / PPM);
  }

  private farPrice(market: number, size: number): number {
    const index = this.priceOf(market);
    return index + Math.sign(size) * Math.trunc(index * 0.08);
  }

  private priceOf(market: number): number {
    return this.auditor.prices[market] ?? 0;
  }

  private isFrozen(market: number): boolean {
    return this.nowUs - (this.lastPriceUs[market] ?? 0) > STALE_US;
  }

  private member(place: number): Member {
    const { coalition } = this.world;
    return coalition[place % coalition.length] as Member;
  }

  private next(): bigint {
    this.nonce += 1n;
    return this.nonce;
  }

  private get now(): TimeUs {
    return timeUs(this.nowUs);
  }
}

/** A part of an amount in 1/1000; below 5: that many dollars. */
function partOf(amount: bigint, part: number): bigint {
  if (part >= 5) return (amount * BigInt(part)) / 1000n;
  const dollars = BigInt(part) * 1_000_000n;
  return dollars < amount ? dollars : amount;
}
