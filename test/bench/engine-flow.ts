/** The mix as commands of the whole engine: 1,000 funded accounts, margin, fees, events and the chain hash. */
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import type { Mix } from './mix.ts';

const ACCOUNTS = 1000;
/** Users follow the six system subaccounts, which `openExchange` checks. */
const FIRST_USER = 6;
const START_US = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
const FAR_MS = 9_007_199_254_741n;

export const CONFIG = DEFAULT_EXCHANGE_CONFIG;

/** Commands that open the market and fund the accounts. */
export function openingCommands(accounts = ACCOUNTS): Command[] {
  const spec = parseMarketSpec(
    {
      symbol: 'BENCH',
      tickSize: '0.1',
      lotSize: '0.001',
      priceBand: '0.1',
      initialMargin: '0.05',
      maxOpenOrders: 100_000,
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const commands: Command[] = [{ kind: 'listMarket', timeUs: START_US, spec: spec.value }];
  for (let i = 0; i < accounts; i++) {
    commands.push({
      kind: 'deposit',
      timeUs: START_US,
      account: accountAddress(i),
      subaccountIndex: 0,
      amount: quanta(1_000_000_000_000n),
    });
  }
  commands.push({
    kind: 'setIndex',
    timeUs: START_US,
    market: marketId(0),
    priceTicks: priceTicks(100_000),
    text: '10000',
  });
  return commands;
}

export function accountAddress(i: number) {
  return address(`0xb${i.toString(16).padStart(39, '0')}`);
}

/**
 * The mix as commands. The engine numbers orders in placement order, so cancels are translated; a
 * cancel without a target names an id that never existed.
 */
export class Flow {
  readonly mix: Mix;
  /** The engine's order id of each operation. */
  private readonly numbers: Int32Array;

  constructor(mix: Mix) {
    this.mix = mix;
    this.numbers = new Int32Array(mix.count + 1);
    let placed = 0;
    for (let i = 0; i < mix.count; i++) if (mix.kind[i] !== 1) this.numbers[i + 1] = ++placed;
  }

  /**
   * Commands [from, until), created shortly before they are applied, like a decoder's. All of them
   * at once would take a hundred megabytes, and pollute caches and garbage collections.
   */
  commands(from: number, until: number): Command[] {
    const commands: Command[] = [];
    for (let i = from; i < until; i++) commands.push(this.command(i));
    return commands;
  }

  private command(i: number): Command {
    const { mix, numbers } = this;
    // One microsecond per command keeps the index fresh for the whole run.
    const atUs = timeUs(START_US + i);
    if (mix.kind[i] === 1) {
      const number = numbers[mix.id[i] ?? 0] ?? 0;
      return { kind: 'cancelOrder', timeUs: atUs, orderId: orderId(number) };
    }
    return {
      kind: 'placeOrder',
      timeUs: atUs,
      subaccount: subaccountId(FIRST_USER + (i % ACCOUNTS)),
      market: marketId(0),
      orderType: 'limit',
      lots: lots(mix.lots[i] ?? 0),
      priceTicks: priceTicks(mix.price[i] ?? 0),
      ioc: mix.kind[i] === 2,
      postOnly: false,
      reduceOnly: false,
      nonce: BigInt(i),
      expiresAtMs: FAR_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    };
  }
}

export function openExchange(accounts = ACCOUNTS): Exchange {
  const exchange = new Exchange(CONFIG);
  for (const command of openingCommands(accounts)) exchange.apply(command);
  if (exchange.subaccountIdOf(accountAddress(0), 0) !== FIRST_USER) {
    throw new Error('the first account has another subaccount');
  }
  return exchange;
}
