/**
 * A strategy: what it hears and what it may do. It speaks the contract through `client`, and sees only what was
 * delivered to it at its own virtual time. The same object runs against any host with the contract.
 *
 * Handlers may be plain or async. An async handler may await its client and `sleep`; awaiting anything else stops the
 * run with an error, since virtual time cannot wait for it.
 */
import type { MatcherClient } from '../gateway/matcher-client.ts';
import type { Address, TimeUs } from '../num/units.ts';

export interface TouchUpdate {
  readonly symbol: string;
  /** Venue time of the change; the strategy hears of it a feed latency later. */
  readonly timeUs: TimeUs;
  /** null while the side is empty. Prices and sizes are decimal text. */
  readonly bid: { readonly price: string; readonly size: string } | null;
  readonly ask: { readonly price: string; readonly size: string } | null;
  readonly tickSize: string;
  readonly bidTicks: number | null;
  readonly askTicks: number | null;
}

export interface TradeUpdate {
  readonly symbol: string;
  readonly timeUs: TimeUs;
  readonly price: string;
  /** Signed by the taker's side. */
  readonly quantity: string;
}

export interface FillUpdate {
  readonly symbol: string;
  readonly timeUs: TimeUs;
  /** The contract's order id. */
  readonly orderId: string;
  readonly role: 'maker' | 'taker';
  readonly price: string;
  /** Signed. */
  readonly quantity: string;
  /** What is left of the order, signed. */
  readonly remaining: string;
  /** The position after this fill, signed. */
  readonly position: string;
}

/** An order ended (or was rejected). */
export interface OrderUpdate {
  readonly symbol: string;
  readonly timeUs: TimeUs;
  readonly orderId: string;
  readonly status: 'filled' | 'cancelled' | 'expired' | 'rejected';
  readonly reason: string | null;
}

export interface StrategyContext {
  readonly client: MatcherClient;
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly symbol: string;
  /** Virtual time. */
  now(): TimeUs;
  /** Calls `onTimer(name)` after a time. */
  setTimer(name: string, afterUs: number): void;
  sleep(us: number): Promise<void>;
  /** The next unused nonce of this subaccount. */
  nextNonce(): number;
}

type Handled = void | Promise<void>;

export interface Strategy {
  readonly name: string;
  onStart?(context: StrategyContext): Handled;
  onBook?(update: TouchUpdate, context: StrategyContext): Handled;
  onTrade?(update: TradeUpdate, context: StrategyContext): Handled;
  onFill?(update: FillUpdate, context: StrategyContext): Handled;
  onOrder?(update: OrderUpdate, context: StrategyContext): Handled;
  onTimer?(name: string, context: StrategyContext): Handled;
  onStop?(context: StrategyContext): Handled;
}
