/** An exchange with the default markets, two funded accounts and an oracle price, and its gateway. */
import type { EndpointId } from '../../src/contract/endpoints.ts';
import type { Reply } from '../../src/gateway/context.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS } from '../../src/gateway/market-config.ts';
import { address, marketId } from '../../src/num/units.ts';
import { World } from '../setup/world.ts';

export const ALICE = address(`0x${'a1'.repeat(20)}`);
export const BOB = address(`0x${'b2'.repeat(20)}`);
export const STRANGER = address(`0x${'99'.repeat(20)}`);
export const START = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
export const SYMBOL = 'BTC-USD-PERP';

export class Fixture extends World {
  constructor() {
    super(DEFAULT_EXCHANGE_CONFIG, DEFAULT_MARKETS);
    for (const account of [ALICE, BOB]) this.credit(account, 0, 10_000_000_000n);
    this.setIndex(marketId(0), 600_000, '60000.04');
  }

  /** Calls as Alice by default; null: without a token. */
  call(endpoint: EndpointId, input: unknown, as: string | null = ALICE): Reply {
    return this.callAs(as === null ? null : address(as), endpoint, input);
  }
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
