/** What every maker of commands draws from: the dice, what is known, the time of the command, and the next nonce. */
import { timeUs, type Address, type TimeUs } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import type { FuzzProfile } from '../profile.ts';
import { NEVER_MS, type RunSetup } from '../run-setup.ts';
import type { KnownMarket, KnownSubaccount, World } from '../fuzz-world.ts';

const MOST_LEFT_OUT = 200;

export class Context {
  readonly profile: FuzzProfile;
  readonly setup: RunSetup;
  readonly dice: Dice;
  readonly world: World;
  /** When the command that is being made happens. */
  nowUs: TimeUs;
  /** Whether it should carry something wrong. */
  faulty = false;
  /** Whether its orders should not go together, each by itself being sound. */
  mismatched = false;
  /** One line of nonces for all: unique in every scope, whoever signs; and some that it left out. */
  private lastNonce = 100;
  private readonly leftOut: number[] = [];

  constructor(profile: FuzzProfile, setup: RunSetup, dice: Dice, world: World) {
    this.profile = profile;
    this.setup = setup;
    this.dice = dice;
    this.world = world;
    this.nowUs = setup.config.genesisTimeUs;
  }

  wait(us: number): void {
    this.nowUs = timeUs(this.nowUs + us);
  }

  /** Until the next whole second. */
  waitForSecond(): void {
    this.wait(1_000_000 - (this.nowUs % 1_000_000));
  }

  /** A nonce that nobody used, above all before it. */
  nonce(): bigint {
    if (this.faulty && this.dice.chance(150)) return BigInt(this.dice.below(this.lastNonce + 1));
    if (this.dice.chance(50)) {
      this.lastNonce += 1;
      if (this.leftOut.length === MOST_LEFT_OUT) this.leftOut.shift();
      this.leftOut.push(this.lastNonce);
    }
    this.lastNonce += 1;
    return BigInt(this.lastNonce);
  }

  /** The same, or now and then a late one, which fills a gap. */
  lateNonce(): bigint {
    const late = this.leftOut.length > 0 && this.dice.chance(40);
    return late ? BigInt(this.dice.pick(this.leftOut)) : this.nonce();
  }

  /** Of a group whose making should go wrong: mostly its orders are sound, and do not go together. */
  spoilGroup(): void {
    if (!this.faulty || !this.dice.chance(600)) return;
    this.faulty = false;
    this.mismatched = true;
  }

  expiresAtMs(): bigint {
    const roll = this.dice.below(100);
    if (roll < 85) return NEVER_MS;
    const nowMs = Math.floor(this.nowUs / 1000);
    if (this.faulty && roll < 88) return BigInt(nowMs - 1);
    return BigInt(nowMs + this.dice.pick([0, 1, 50, 400, 2000, 20_000]));
  }

  /** Mostly one that still trades. */
  market(): KnownMarket {
    for (let tries = 0; tries < 4; tries += 1) {
      const market = this.dice.pick(this.world.markets);
      if (market.status !== 'delisted') return market;
    }
    return this.dice.pick(this.world.markets);
  }

  subaccount(): KnownSubaccount {
    return this.dice.pick(this.world.subaccounts);
  }

  /** One with money, when a few looks find one. */
  trader(): KnownSubaccount {
    for (let tries = 0; tries < 3; tries += 1) {
      const owner = this.subaccount();
      if (owner.cash > 0) return owner;
    }
    return this.subaccount();
  }

  user(): Address {
    return this.dice.pick(this.setup.users);
  }

  subaccountIndex(): number {
    return this.dice.below(this.profile.subaccounts + 1);
  }

  /** Whoever holds something in some market, when a few looks find one. */
  holder(): { readonly owner: KnownSubaccount; readonly market: KnownMarket } | null {
    for (let tries = 0; tries < 4; tries += 1) {
      const owner = this.subaccount();
      const market = this.market();
      if ((owner.positions[market.id] ?? 0) !== 0) return { owner, market };
    }
    return null;
  }

  /** Whoever has neither position nor order in some market, when a few looks find one. */
  idler(): { readonly owner: KnownSubaccount; readonly market: KnownMarket } | null {
    for (let tries = 0; tries < 6; tries += 1) {
      const owner = this.trader();
      const market = this.market();
      const isIdle =
        (owner.positions[market.id] ?? 0) === 0 &&
        this.world.view.openOrders(owner.id).every((order) => order.market !== market.id);
      if (isIdle) return { owner, market };
    }
    return null;
  }

  /** Of an amount of Quanta: a tiny part, a part, all, or a little more than all. */
  partOf(amount: number): bigint {
    const whole = Math.max(0, Math.floor(amount));
    switch (this.dice.below(8)) {
      case 0:
        return 1n;
      case 1:
        return BigInt(whole);
      case 2:
        return BigInt(whole) + 1n;
      case 3:
        return BigInt(1 + this.dice.below(1000));
      default:
        return BigInt(1 + Math.floor((whole / 1000) * this.dice.below(700)));
    }
  }
}
