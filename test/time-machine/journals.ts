/** Journals for the tests of the time machine: random runs with all kinds of commands. */
import { must } from '../../src/base/assert.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../src/engine/config.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  seq,
  timeUs,
  type Address,
  type OrderId,
  type SubaccountId,
  type TimeUs,
} from '../../src/num/units.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';

export interface RandomJournal {
  readonly bytes: Uint8Array;
  readonly commands: number;
}

export interface RandomJournalOptions {
  readonly profile?: ProfileName;
  /** Records a wrong chain hash after this command. */
  readonly wrongHashAt?: number;
}

export function randomJournal(
  seed: string,
  commands: number,
  options: RandomJournalOptions = {},
): RandomJournal {
  const profile = drawProfile(seed, { name: options.profile ?? 'stress', commands });
  const writer = new JournalWriter(setUp(profile).config);
  const { engine } = runFuzz(
    profile,
    { after: () => null },
    {
      onCommand: (command, _outcome, running) => {
        const { seq: at, nowUs } = running;
        writer.append(at, command);
        if (at % 100 === 0) writer.checkpoint(at, nowUs, running.stateHash());
        if (at === options.wrongHashAt) writer.chain(at, nowUs, '0'.repeat(32));
        return false;
      },
    },
  );
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return { bytes: writer.bytes(), commands: engine.seq };
}

export interface WorldOptions {
  /** Terms of its markets that differ. */
  readonly terms?: Readonly<Record<string, unknown>>;
  readonly config?: Partial<ExchangeConfig>;
}

/** A small exchange with one market of tick 1 and lot 1, whose mark is the oracle's price. */
export class World {
  readonly commands: { readonly seq: number; readonly command: Command }[] = [];
  private readonly terms: Readonly<Record<string, unknown>>;
  private readonly config: ExchangeConfig;
  private readonly engine: Exchange;
  private nowUs: number;
  private nonce = 0n;

  constructor({ terms = {}, config = {} }: WorldOptions = {}) {
    this.terms = terms;
    this.config = { ...DEFAULT_EXCHANGE_CONFIG, ...config };
    this.engine = new Exchange(this.config);
    this.nowUs = this.config.genesisTimeUs;
    this.list('BTC');
  }

  list(symbol: string): void {
    this.apply({ kind: 'listMarket', timeUs: timeUs(this.nowUs), spec: this.spec(symbol) });
  }

  /** The terms of a market, with changes. */
  spec(symbol = 'BTC', changes: Readonly<Record<string, unknown>> = {}): MarketSpec {
    const spec = parseMarketSpec(
      {
        symbol,
        tickSize: '1',
        lotSize: '1',
        initialMargin: '0.1',
        maintenanceMargin: '0.05',
        markSource: 'index',
        makerFee: '0',
        takerFee: '0',
        priceBand: '0.5',
        ...this.terms,
        ...changes,
      },
      keccak,
    );
    if (!spec.ok) throw new Error(spec.error);
    return spec.value;
  }

  apply(command: Command): { readonly seq: number } {
    const outcome = this.engine.apply(command);
    if (outcome !== 'ok') throw new Error(`${command.kind}: ${outcome.code}`);
    this.commands.push({ seq: this.engine.seq, command });
    return { seq: this.engine.seq };
  }

  private later(): TimeUs {
    this.nowUs += 1_000_000;
    return timeUs(this.nowUs);
  }

  wait(seconds: number): void {
    this.nowUs += seconds * 1e6;
    this.apply({ kind: 'advanceTime', timeUs: timeUs(this.nowUs) });
  }

  /** A funded account; its subaccount. */
  user(whole: number): SubaccountId {
    const number = (this.engine.subaccountCount + 1).toString(16);
    const account = address(`0x${number.padStart(40, 'b')}`);
    this.deposit(account, whole);
    return must(this.engine.subaccountIdOf(account, 0), 'a deposit opens it');
  }

  addressOf(id: SubaccountId): Address {
    return this.engine.addressOf(this.engine.subaccount(id).account);
  }

  deposit(account: Address, whole: number): { readonly seq: number } {
    const amount = quanta(BigInt(Math.round(whole * 1e6)));
    return this.apply({
      kind: 'deposit',
      timeUs: this.later(),
      account,
      subaccountIndex: 0,
      amount,
    });
  }

  withdraw(id: SubaccountId, whole: number): { readonly seq: number } {
    const amount = quanta(BigInt(Math.round(whole * 1e6)));
    const account = this.addressOf(id);
    return this.apply({
      kind: 'withdraw',
      timeUs: this.later(),
      account,
      subaccountIndex: 0,
      amount,
    });
  }

  price(ticks: number, market = 0): { readonly seq: number } {
    return this.apply({
      kind: 'setIndex',
      timeUs: this.later(),
      market: marketId(market),
      priceTicks: priceTicks(ticks),
      text: String(ticks),
    });
  }

  order(
    subaccount: SubaccountId,
    size: number,
    ticks: number,
    flags: {
      readonly ioc?: boolean;
      readonly reduceOnly?: boolean;
      readonly market?: number;
    } = {},
  ): { readonly seq: number; readonly id: OrderId } {
    this.nonce += 1n;
    const { seq } = this.apply({
      kind: 'placeOrder',
      timeUs: this.later(),
      subaccount,
      market: marketId(flags.market ?? 0),
      orderType: 'limit',
      lots: lots(size),
      priceTicks: priceTicks(ticks),
      ioc: flags.ioc ?? false,
      postOnly: false,
      reduceOnly: flags.reduceOnly ?? false,
      nonce: this.nonce,
      expiresAtMs: 9_007_199_254_741n,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    });
    return { seq, id: this.engine.lastOrderId };
  }

  cancel({ id }: { readonly id: OrderId }): { readonly seq: number } {
    return this.apply({ kind: 'cancelOrder', timeUs: this.later(), orderId: id });
  }

  get exchange(): Exchange {
    return this.engine;
  }
  get seq(): number {
    return this.engine.seq;
  }
  get time(): TimeUs {
    return this.later();
  }

  bytes(): Uint8Array {
    const writer = new JournalWriter(this.config);
    for (const { seq: at, command } of this.commands) writer.append(seq(at), command);
    writer.end(this.engine.seq, this.engine.nowUs, this.engine.chainHash());
    return writer.bytes();
  }

  open(): Timeline {
    return Timeline.open(this.bytes());
  }
}
