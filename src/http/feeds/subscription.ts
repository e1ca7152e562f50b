/** Feed subscriptions, decoded into the gateway's terms. */
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import { MESSAGES } from '../../contract/messages.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import type { Fields } from '../../gateway/fields.ts';
import { RequestError } from '../../gateway/request-error.ts';
import type { Address, MarketId } from '../../num/units.ts';
import { keccak } from '../../wallet/crypto-ports.ts';

export type Subscription =
  | {
      readonly access: 'public';
      readonly source: FeedSource;
      /** null: all markets, including those listed later. */
      readonly markets: readonly MarketId[] | null;
      readonly key: string;
    }
  | {
      readonly access: 'private';
      readonly source: FeedSource;
      readonly account: Address;
      /** null: all subaccounts. */
      readonly indices: readonly number[] | null;
      readonly key: string;
    };

export type PrivateSubscription = Extract<Subscription, { readonly access: 'private' }>;

const SOURCES = Object.keys(FEEDS) as FeedSource[];
const MAX_NAMES = 1000;

/** Throws `RequestError` naming the parameter. Equal parameters yield equal keys. */
export function readSubscription(fields: Fields, view: ExchangeView): Subscription {
  const name = fields.text('source');
  const source =
    SOURCES.find((known) => known === name) ??
    fields.fail('source', `must be one of ${SOURCES.join(', ')}`);
  if (FEEDS[source].access === 'public') {
    for (const wrong of ['account', 'subaccountIndices']) {
      if (fields.has(wrong)) fields.fail(wrong, `is for private sources, not for ${source}`);
    }
    const symbols = fields.has('symbols') ? [...new Set(fields.texts('symbols', MAX_NAMES))] : [];
    const markets = symbols.sort().map((symbol) => {
      const id = view.marketIdOf(symbol);
      if (id === undefined) throw new RequestError(MESSAGES.symbolNotFound);
      return id;
    });
    const key = `${source} ${symbols.join(',')}`;
    return { access: 'public', source, markets: markets.length === 0 ? null : markets, key };
  }
  if (fields.has('symbols')) fields.fail('symbols', `is for public sources, not for ${source}`);
  const account = fields.address('account', keccak);
  const indices = [...new Set(fields.subaccountIndices('subaccountIndices', MAX_NAMES))].sort(
    (a, b) => a - b,
  );
  const key = `${source} ${account} ${indices.join(',')}`;
  const wanted = indices.length === 0 ? null : indices;
  return { access: 'private', source, account, indices: wanted, key };
}
