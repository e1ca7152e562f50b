/**
 * Eve bids 1 % above a constant index and Ed asks a tick higher, for the impact notional of 25,000,
 * while Dan sells to any such bid once a minute. Their owner has the short of Xan as well, and Lee,
 * who is honest, the long of 20 A. The quotes hold the mark above the index, and Lee pays funding on
 * their premium to Xan. Each sale to a real bid costs Eve 250.
 *
 * But Dan got one lot, or nothing: the quotes were reduce-only beyond a position of one lot, or Eve
 * could not pay for them. Matching cuts or cancels such orders, so they cost Eve and Ed a few USD.
 * Now they are left out of impact prices (R-7.1, decision 0145).
 */
import { afterAll, expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const REDUCE_ONLY = { ioc: false, postOnly: false, reduceOnly: true };
const IOC = { ioc: true, postOnly: false, reduceOnly: false };

interface Attack {
  /** Money of Eve and of Ed. */
  readonly each: string;
  /** Both quote; called again once no bid is left. */
  readonly quote: (world: AttackWorld) => void;
  readonly isolated?: boolean;
}

function bothQuote(world: AttackWorld, size: string, orders = 1, flags?: object): void {
  for (let i = 0; i < orders; i++) {
    world.order('eve', size, '40400', { symbol: 'A', ...(flags && { flags }) });
    world.order('ed', `-${size}`, '40400.1', { symbol: 'A', ...(flags && { flags }) });
  }
}

/** Money that only admission needs goes to a second subaccount, and comes back for new quotes. */
function lend(world: AttackWorld, keep: bigint): void {
  for (const who of ['eve', 'ed']) {
    const free = world.margin(who).withdrawableQuanta / 1_000_000n - keep;
    world.transfer(who, who, String(free), { subaccountIndexTo: 1 });
  }
}

function takeBack(world: AttackWorld): void {
  for (const who of ['eve', 'ed']) {
    world.cancelAll(who);
    if (world.engine.subaccountIdOf(world.addressOf(who), 1) === undefined) continue;
    const amount = world.margin(who, 1).withdrawableQuanta / 1_000_000n;
    if (amount > 0n) world.transfer(who, who, String(amount), { subaccountIndexFrom: 1 });
  }
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'of a position of one lot': {
    each: '20',
    quote: (world) => {
      world.cancelAll('ed');
      if (world.position('eve', 'A') === undefined) {
        world.trade('eve', 'ed', '-0.0001', '40000', 'A');
      }
      bothQuote(world, '1', 1, REDUCE_ONLY);
    },
  },
  'whose loss is no longer reserved': {
    each: '800',
    quote: (world) => {
      takeBack(world);
      bothQuote(world, '0.63');
      lend(world, 0n);
    },
  },
  'of an isolated market': {
    each: '520',
    isolated: true,
    quote: (world) => {
      takeBack(world);
      bothQuote(world, '0.63');
    },
  },
};

function play({ each, quote, isolated }: Attack): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ lee: '100000', xan: '100000', dan: '50000', eve: each, ed: each });
  world.price('40000', 'A');
  if (isolated === true) for (const who of ['eve', 'ed']) world.setMargin(who, true, '0.02', 'A');
  world.trade('lee', 'xan', '20', '40000', 'A');
  for (let i = 0; i < 61; i++) {
    quote(world);
    world.run(40_000, { A: '40000' });
    world.order('dan', '-1', '40300', { symbol: 'A', flags: IOC });
    world.run(20_000, { A: '40000' });
  }
  return world;
}

test.each(Object.entries(ATTACKS))('quotes %s: Lee paid 950, now nothing', (_name, attack) => {
  const world = play(attack);
  expect([world.markOf('A'), world.balance('lee')]).toEqual([40_000, '100000']);
});

test('four quotes of which three can be paid: the mark was 40,050.3, now 40,000', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ eve: '800', ed: '800', dan: '50000' });
  world.price('40000', 'A');
  bothQuote(world, '0.16', 4);
  lend(world, 66n);
  world.run(40_000, { A: '40000' });
  // One counts; when one is cancelled, its margin pays for the next.
  expect(world.markOf('A')).toBe(40_000);
  world.order('dan', '-1', '40300', { symbol: 'A', flags: IOC });
  expect(world.position('eve', 'A')?.quantity).toBe('0.48');
});

test('a side that needs more than 1,000 orders of users is too thin', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  const owners = ['eve', 'ed', 'dan', 'lee', 'xan', 'zoe'];
  world.fund({ mia: '100000', ...Object.fromEntries(owners.map((who) => [who, '1000'])) });
  world.price('40000', 'A');
  world.order('mia', '1', '39000', { symbol: 'A' });
  world.order('mia', '-1', '41000', { symbol: 'A' });
  const impactBid = (): number | null =>
    world.engine.markComposition(world.engine.markets()[0]!.id).impactBidTicks;
  for (let i = 0; i < 999; i++) world.order(owners[i % 6]!, '0.0001', '39999', { symbol: 'A' });
  world.run(10_000, { A: '40000' });
  // 999 orders of 4 USD each, and 0.53857 at 39,000 for the rest of 25,000.
  expect(impactBid()).toBe(391_563);
  world.order('zoe', '0.0001', '39999', { symbol: 'A' });
  world.run(10_000, { A: '40000' });
  expect(impactBid()).toBeNull();
});

test('two reduce-only quotes of one position count once: the mark was 40,050.3', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ eve: '600', ed: '600' });
  world.price('40000', 'A');
  world.trade('eve', 'ed', '-0.32', '40000', 'A');
  bothQuote(world, '0.32', 2, REDUCE_ONLY);
  world.run(40_000, { A: '40000' });
  expect(world.markOf('A')).toBe(40_000);
});

/** Eve is short, and Mia asks: only Eve's bids decide whether a side is too thin. */
function shortEve(position: string): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ eve: '5000', mia: '10000' });
  world.price('40000', 'A');
  world.trade('eve', 'mia', `-${position}`, '40000', 'A');
  world.order('mia', '-1', '40401', { symbol: 'A' });
  return world;
}

const impactBidOf = (world: AttackWorld): number | null =>
  world.engine.markComposition(world.marketOf('A')).impactBidTicks;

test('a quote of the whole position leaves nothing for a reduce-only one: the bid was 40,400', () => {
  const world = shortEve('0.32');
  world.order('eve', '0.32', '40400', { symbol: 'A' });
  world.order('eve', '0.32', '40400', { symbol: 'A', flags: REDUCE_ONLY });
  expect(impactBidOf(world)).toBeNull();
  world.order('mia', '-1', '40400', { symbol: 'A', flags: IOC });
  expect(world.position('eve', 'A')).toBeUndefined();
});

const LEG = { symbol: 'A', flags: REDUCE_ONLY, orderType: 'TakeProfit', triggerPrice: '40400' };

test('a leg counts beside another order of the position: there was no impact bid', () => {
  const world = shortEve('0.64');
  world.order('eve', '0.32', '40400', { symbol: 'A', flags: REDUCE_ONLY });
  world.order('eve', '0.32', '40400', LEG);
  expect(impactBidOf(world)).toBe(404_000);
  world.order('mia', '-1', '40400', { symbol: 'A', flags: IOC });
  expect(world.position('eve', 'A')).toBeUndefined();
});

test('two legs of one cover count once (R-3.6)', () => {
  const world = shortEve('0.64');
  const leg = (changes: object): unknown =>
    world.orderBody('eve', { ...LEG, quantity: '0.32', price: '40400', ...changes });
  const orders = [leg({}), leg({ orderType: 'StopLoss', triggerPrice: '40010' })];
  world.ask('submitOrders', { orders }, 'eve');
  expect(impactBidOf(world)).toBeNull();
  world.price('40020', 'A');
  expect(world.engine.depth(world.marketOf('A'), 'bid', 1)).toMatchObject([{ lots: 6400 }]);
  expect(impactBidOf(world)).toBeNull();
  world.order('mia', '-1', '40400', { symbol: 'A', flags: IOC });
  expect(world.position('eve', 'A')?.quantity).toBe('-0.32');
});

test('a halted market shows all lots, and so does the exchange restored from a snapshot', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ eve: '800', ed: '800' });
  world.price('40000', 'A');
  bothQuote(world, '0.63');
  lend(world, 0n);
  const market = world.marketOf('A');
  const shown = (engine: Exchange): unknown => engine.markComposition(market);
  expect(shown(world.engine)).toMatchObject({ impactBidTicks: null });
  const halt = { kind: 'setMarketStatus', timeUs: world.now, market, status: 'halted' } as const;
  expect(world.apply(halt)).toBe('ok');
  expect(shown(world.engine)).toMatchObject({ impactBidTicks: 404_000, impactAskTicks: 404_001 });
  expect(shown(Exchange.restore(world.engine.snapshot()))).toEqual(shown(world.engine));
});
