/** Shared state of generators: dice, world model, time of the command, next nonce. */
import { timeUs, type Address, type SubaccountId, type TimeUs } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import type { FuzzProfile } from '../profile.ts';
import { NEVER_MS, type RunSetup } from '../run-setup.ts';
import type { KnownMarket, KnownSubaccount, World } from '../fuzz-world.ts';

const MAX_SKIPPED = 200;

/** How far back a used or forgotten nonce lies. */
const OLDEST = 4000;

export class Context {
  readonly profile: FuzzProfile;
  readonly setup: RunSetup;
  readonly dice: Dice;
  readonly world: World;
  /** Time of the command being drawn. */
  nowUs: TimeUs;
  /** True if the command should have a fault. */
  faulty = false;
  /** True if the group's orders should be inconsistent, each being valid alone. */
  mismatched = false;
  /** One nonce sequence for all signers, so nonces are unique in every scope; those skipped. */
  private lastNonce: number;
  private readonly skipped: number[] = [];

  constructor(profile: FuzzProfile, setup: RunSetup, dice: Dice, world: World) {
    this.profile = profile;
    this.setup = setup;
    this.dice = dice;
    this.world = world;
    this.lastNonce = profile.firstNonce;
    this.nowUs = setup.config.genesisTimeUs;
  }

  wait(us: number): void {
    this.nowUs = timeUs(this.nowUs + us);
  }

  /** Waits until the next whole second. */
  waitForSecond(): void {
    this.wait(1_000_000 - (this.nowUs % 1_000_000));
  }

  /** An unused nonce above all before it. */
  nonce(): bigint {
    // Around the edge of a window of 1,024 nonces, which several accounts share.
    if (this.faulty && this.dice.chance(150)) {
      return BigInt(Math.max(0, this.lastNonce - this.dice.below(OLDEST)));
    }
    if (this.dice.chance(50)) {
      this.lastNonce += 1;
      if (this.skipped.length === MAX_SKIPPED) this.skipped.shift();
      this.skipped.push(this.lastNonce);
    }
    this.lastNonce += 1;
    return BigInt(this.lastNonce);
  }

  /** Like `nonce`, after up to three that stay unused. */
  spacedNonce(): bigint {
    this.lastNonce += this.dice.below(4);
    return this.nonce();
  }

  /** Like `nonce`, or occasionally a skipped one. */
  lateNonce(): bigint {
    const late = this.skipped.length > 0 && this.dice.chance(40);
    return late ? BigInt(this.dice.pick(this.skipped)) : this.nonce();
  }

  /**
   * Like `lateNonce`; sometimes one at an edge of the windows of a subaccount: its 1,024 highest
   * used ones, the first one below, or one that another identity has used.
   */
  orderNonce(owner: SubaccountId): bigint {
    if (!this.dice.chance(this.profile.nonceEdgePermille)) return this.lateNonce();
    return this.world.nonceEdge(owner, this.dice) ?? this.lateNonce();
  }

  /** For a faulty group: usually its orders are valid but inconsistent. */
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

  /** Usually a market that is not delisted. */
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

  /** A subaccount with money, if a few draws find one. */
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

  /** A holder of a position in some market, if a few draws find one. */
  holder(): { readonly owner: KnownSubaccount; readonly market: KnownMarket } | null {
    for (let tries = 0; tries < 4; tries += 1) {
      const owner = this.subaccount();
      const market = this.market();
      if ((owner.positions[market.id] ?? 0) !== 0) return { owner, market };
    }
    return null;
  }

  /** A subaccount without position or order in some market, if a few draws find one. */
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

  /** A part of an amount of Quanta: tiny, partial, all, or slightly more. */
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
