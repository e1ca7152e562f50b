/** The updates that subscribers of a host must have follow from its twin; each update that is lost is found. */
import { expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/sha256.ts';
import type { FeedSource } from '../../src/contract/feeds.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import type { FeedSubject, FeedUpdates } from '../../src/fuzz/twin/twin-host.ts';
import { TwinFeeds } from '../../src/fuzz/twin/twin-feeds.ts';
import { encodeOrder } from '../../src/gateway/encode.ts';
import { Changes } from '../../src/gateway/feeds/changes.ts';
import { FeedRecords, sidesOf } from '../../src/gateway/feeds/feed-records.ts';
import { MarketWatch } from '../../src/gateway/feeds/market-watch.ts';
import { TrustOrderIds } from '../../src/gateway/order-ids.ts';
import { orderId, subaccountId, type SubaccountId } from '../../src/num/units.ts';

/** Removes a sent update; true: it is lost. */
type Loses = (update: FeedUpdates, nth: number) => boolean;

/** Publishes the changes of one command after another as a host does. Returns the first fault. */
function publish(seed: string, loses: Loses, after = 500): string | null {
  const profile = drawProfile(seed, { name: 'stress', commands: after });
  const setup = setUp(profile);
  const engine = new Exchange(setup.config);
  const ids = new TrustOrderIds(engine, sha256Hex);
  const records = new FeedRecords({ view: engine, ids });
  const shortfall = engine.subaccountIdOf(setup.config.shortfallAccount, 0) ?? subaccountId(0);
  const generator = new CommandGenerator(profile, engine, setup);
  const feeds = new TwinFeeds(engine, setup.users, (id) => {
    const order = engine.order(orderId(id));
    return order === undefined ? null : ids.digestOf(order);
  });
  const watch = new MarketWatch(engine);
  let sent = 0;
  const send = (source: FeedSource, subject: FeedSubject, record: unknown): string | null => {
    if (record === null) return null;
    const update = { source, subject, updates: [record as Record<string, unknown>] };
    sent += 1;
    return loses(update, sent) ? null : feeds.take(update);
  };
  const ownerOf = (id: SubaccountId) => engine.addressOf(engine.subaccount(id).account);
  const sendAll = (changes: Changes): string | null => {
    const faults: (string | null)[] = [];
    for (const who of ['all', 'each'] as const) {
      for (const trade of changes.trades) faults.push(send('trade', who, records.trade(trade)));
      for (const { market, timeUs } of changes.trades) {
        faults.push(send('candle', who, records.candle(market, timeUs)));
      }
      for (const event of changes.liquidations) {
        if (who === 'each' && event.kind === 'balanceChanged') continue;
        if (who === 'each' && 'market' in event && event.market === null) continue;
        faults.push(send('liquidation', who, records.liquidation(event)));
      }
      for (const id of changes.terms) faults.push(send('market', who, records.market(id)));
      for (const id of changes.markets) {
        faults.push(send('price', who, records.quote('price', id)));
        faults.push(send('summary', who, records.quote('summary', id)));
      }
    }
    for (const [id, owner] of changes.orders) {
      const order = engine.order(id);
      const record = order === undefined ? null : encodeOrder(engine, ids, order);
      faults.push(send('order', ownerOf(owner), record));
    }
    for (const fill of changes.fills) {
      for (const side of sidesOf(fill)) {
        const owner = ownerOf(side.subaccount);
        if (setup.users.includes(owner)) faults.push(send('fill', owner, records.fill(fill, side)));
      }
    }
    for (const [id, markets] of changes.positions) {
      for (const market of markets) {
        faults.push(send('position', ownerOf(id), records.position(id, market)));
      }
    }
    for (const id of changes.balances)
      faults.push(send('balance', ownerOf(id), records.balance(id)));
    return faults.find((fault) => fault !== null) ?? null;
  };
  for (let command = generator.next(); command !== null; command = generator.next()) {
    const changes = new Changes(shortfall);
    engine.apply(command, (event) => {
      generator.observe(event);
      feeds.observe(event);
      changes.note(event);
    });
    watch.note(changes);
    const fault = sendAll(changes) ?? (engine.seq % 16 === 0 ? feeds.fault(true) : null);
    if (fault !== null) return fault;
  }
  return feeds.fault(true);
}

test.each(['one', 'two', 'three'])('updates of %s hold', (seed) => {
  expect(publish(seed, () => false)).toBeNull();
});

test.each([
  ['trade', /trade/],
  ['candle', /candle/],
  ['liquidation', /liquidation/],
  ['price', /price/],
  ['summary', /summary/],
  ['order', /order/],
  ['fill', /fill/],
  ['position', /position/],
  ['balance', /balance/],
] as const)('lost updates of %s are found', (source, message) => {
  let seen = 0;
  const fault = publish('two', (update) => {
    if (update.source !== source || update.subject === 'each') return false;
    seen += 1;
    return seen > 3;
  });
  expect(fault).toMatch(message);
});

test('an update that comes twice is found', () => {
  expect(publish('two', () => false)).toBeNull();
  const profile = drawProfile('two', { name: 'stress', commands: 10 });
  const engine = new Exchange(setUp(profile).config);
  const feeds = new TwinFeeds(engine, [], () => null);
  const updates = [{ price: '1' }];
  expect(feeds.take({ source: 'trade', subject: 'all', updates })).toContain('must not have');
});
