/** An exchange with the default markets, two funded accounts and an oracle price, and its gateway. */
import { Exchange } from '../../src/engine/exchange.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { EndpointId } from '../../src/contract/endpoints.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import {
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  parseMarketSpec,
} from '../../src/gateway/market-config.ts';
import type { Reply } from '../../src/gateway/context.ts';
import { address, marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

export const ALICE = address(`0x${'a1'.repeat(20)}`);
export const BOB = address(`0x${'b2'.repeat(20)}`);
export const STRANGER = address(`0x${'99'.repeat(20)}`);
export const START = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
export const SYMBOL = 'BTC-USD-PERP';

export interface Fixture {
  readonly engine: Exchange;
  /** Opening commands. */
  readonly commands: readonly Command[];
  nowUs: number;
  /** Calls as Alice by default; null: without a token. */
  call(endpoint: EndpointId, input: unknown, as?: string | null): Reply;
}

export function openFixture(): Fixture {
  const engine = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const commands: Command[] = [];
  const apply = (command: Command): void => {
    commands.push(command);
    engine.apply(command);
  };
  for (const market of DEFAULT_MARKETS) {
    const spec = parseMarketSpec(market, keccak);
    if (!spec.ok) throw new Error(spec.error);
    apply({ kind: 'listMarket', timeUs: START, spec: spec.value });
  }
  for (const account of [ALICE, BOB]) {
    apply({
      kind: 'deposit',
      timeUs: START,
      account,
      subaccountIndex: 0,
      amount: quanta(10_000_000_000n),
    });
  }
  apply({
    kind: 'setIndex',
    timeUs: START,
    market: marketId(0),
    priceTicks: priceTicks(600_000),
    text: '60000.04',
  });
  const gateway = new Gateway({
    engine,
    submit: (command) => engine.apply(command),
    nowUs: () => timeUs(fixture.nowUs),
    keccak,
    signatures: 'trust',
  });
  const fixture: Fixture = {
    engine,
    commands,
    nowUs: START,
    call(endpoint, input, as = ALICE) {
      const caller = as === null ? null : { account: address(as), signer: address(as) };
      return gateway.handle(endpoint, input, caller);
    },
  };
  return fixture;
}

let nonce = 0;

/** A resting limit order; `changes` override its fields. */
export function order(changes: Record<string, unknown> = {}): Record<string, unknown> {
  nonce += 1;
  return {
    account: ALICE,
    subaccountIndex: 0,
    symbol: SYMBOL,
    orderType: 'Limit',
    price: '59000',
    quantity: '0.01',
    nonce,
    expiresAt: 9_007_199_254_740_991,
    originator: '0x0000000000000000000000000000000000000000',
    originatorFee: 0,
    flags: { ioc: false, postOnly: false, reduceOnly: false },
    signatures: [],
    ...changes,
  };
}
