/**
 * An exchange with what an exploration needs: the key of its state, and a journal position that
 * stands still. Sequence numbers and trade ids label records; no rule reads them. Keeping them at
 * the values of the opening makes states equal that differ only in these labels.
 */
import type { Command } from '../../engine/commands.ts';
import type { EventSink } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Outcome } from '../../engine/refusals.ts';
import { ownedOrders } from '../../engine/orders/owned-orders.ts';
import { archiveLive } from '../../engine/snapshot/snapshot.ts';
import type { Address, MarketId, OrderId, Seq, SubaccountId, TradeId } from '../../num/units.ts';
import type { Parts } from './checkpoint.ts';
import type { Changes, StateKey } from './state-key.ts';

export class ExploredExchange extends Exchange {
  private labels: { readonly seq: Seq; readonly nextTradeId: TradeId } | null = null;

  /** From now on every command keeps the current sequence number and trade id. */
  holdLabels(): void {
    const { seq, nextTradeId } = this.state;
    this.labels = { seq, nextTradeId };
  }

  override apply(command: Command, emit?: EventSink): Outcome {
    const outcome = super.apply(command, emit);
    if (this.labels !== null) {
      this.state.seq = this.labels.seq;
      this.state.nextTradeId = this.labels.nextTradeId;
    }
    return outcome;
  }

  /** From now on the chain hash is that of the next commands alone. */
  restartChain(): void {
    this.state.hash.restore('0'.repeat(32));
  }

  /** The parts whose keys may be reused, in the order in which a checkpoint visits them. */
  readonly parts = (): Parts => {
    const { accounts, orders, markets } = this.state;
    const objects = [...accounts.all, ...accounts.subaccounts, orders, ...markets];
    // A counter of the book changes with every change of its levels.
    return { objects, scanned: [orders], owners: [orders, ...markets] };
  };

  /**
   * Writes the key of the state into `words`. With the changes since the state of the last
   * `remember`, only the parts that changed are hashed again.
   */
  key(archive: StateKey, words: Int32Array, changes: Changes | null = null): void {
    archive.begin(this.state, changes);
    archiveLive(archive, this.state);
    archive.end(words);
  }

  /** A nonce above every one that the owner has used for orders of the subaccount. */
  nextOrderNonce(subaccount: SubaccountId): bigint {
    return this.state.subaccount(subaccount).orderNonces.highest + 1n;
  }

  /** A nonce above every one that the account has used for other requests. */
  nextNonce(account: Address): bigint {
    return (this.state.accounts.find(account)?.nonces.highest ?? -1n) + 1n;
  }

  /** The first live order of a subaccount, in a market if one is given; null without any. */
  oldestOrder(subaccount: SubaccountId, market: MarketId | null = null): OrderId | null {
    const { state } = this;
    const [oldest] = ownedOrders(state, state.subaccount(subaccount), market);
    return oldest === undefined ? null : state.orders.id(oldest);
  }
}
