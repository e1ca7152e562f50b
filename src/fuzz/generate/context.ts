/** What every maker of commands draws from: the dice, what is known, the time of the command, and the next nonce. */
import { timeUs, type Address, type TimeUs } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import type { FuzzProfile } from '../profile.ts';
import { NEVER_MS, type RunSetup } from '../run-setup.ts';
import type { KnownMarket, KnownSubaccount, World } from '../world.ts';

export class Context {
  readonly profile: FuzzProfile;
  readonly setup: RunSetup;
  readonly dice: Dice;
  readonly world: World;
  /** When the command that is being made happens. */
  nowUs: TimeUs;
  /** Whether it should carry something wrong. */
  faulty = false;
  /** One line of nonces for all: unique in every scope, whoever signs. */
  private lastNonce = 100;

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

  /** A nonce that nobody used; gaps between them are filled later, now and then, by a late one. */
  nonce(): bigint {
    if (this.faulty && this.dice.chance(150)) return BigInt(this.dice.below(this.lastNonce + 1));
    this.lastNonce += this.dice.chance(50) ? 2 : 1;
    return BigInt(this.lastNonce);
  }

  expiresAtMs(): bigint {
    const roll = this.dice.below(100);
    if (roll < 85) return NEVER_MS;
    const nowMs = Math.floor(this.nowUs / 1000);
    if (this.faulty && roll < 88) return BigInt(nowMs - 1);
    return BigInt(nowMs + this.dice.pick([0, 1, 50, 400, 2000, 20_000]));
  }

  market(): KnownMarket {
    return this.dice.pick(this.world.markets);
  }

  subaccount(): KnownSubaccount {
    return this.dice.pick(this.world.subaccounts);
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
