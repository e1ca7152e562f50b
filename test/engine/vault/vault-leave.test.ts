/** The vault's closing orders, and the redemption value of its frozen positions. */
import { describe, expect, test } from 'vitest';
import { TrustOrderIds } from '../../../src/gateway/order-ids.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { vaultValue } from '../../../src/engine/vault/vault.ts';
import { ppm, timeUs } from '../../../src/num/units.ts';
import { freeze, STALE, stateOf } from '../invariants/planted.ts';
import { dollars, RiskWorld } from '../risk-world.ts';

const MINUTE = 60_000;

/** The vault has taken 10 long at 94 and has 1,000 plus eve's remainder. */
function taken(
  market: Record<string, unknown> = {},
  config: Record<string, unknown> = {},
  eve = '100',
): RiskWorld {
  const world = new RiskWorld([market], { vaultLockupMs: 0, ...config });
  world.fund({ ann: '1000000', bob: '1000000', eve });
  world.price('100');
  world.transfer('ann', 'vault', '1000');
  world.trade('eve', 'bob', '10', '100');
  world.price('94');
  return world;
}

interface Offer {
  readonly lots: number;
  readonly price: number;
}

function offers(world: RiskWorld): Offer[] {
  return world.engine
    .openOrders(world.idOf('vault'))
    .map((order) => ({ lots: order.remainingLots, price: order.priceTicks }));
}

const vaultLots = (world: RiskWorld): number =>
  world.engine.positions(world.idOf('vault'))[0]?.lots ?? 0;

describe('leave orders', () => {
  test('start at the next whole minute: a twentieth, above mark and index, rounded up', () => {
    const world = taken();
    expect(vaultLots(world)).toBe(10_000);
    world.wait(MINUTE - 1);
    expect(offers(world)).toEqual([]);
    world.wait(1);
    // 94 × 1.0005 is 94.047.
    expect(offers(world)).toEqual([{ lots: -500, price: 95 }]);
    const [order] = world.engine.openOrders(world.idOf('vault'));
    expect(order).toMatchObject({ reduceOnly: true, postOnly: true, attached: 'engine' });
  });

  test('are replaced each minute, at current prices', () => {
    const world = taken();
    world.wait(MINUTE);
    const [first] = world.engine.openOrders(world.idOf('vault'));
    world.price('96', 'M', '98');
    world.wait(MINUTE);
    expect(world.engine.order(first!.orderId)).toMatchObject({
      status: 'expired',
      reason: 'expired',
    });
    // Above the index, which is higher: 98.049.
    expect(offers(world)).toEqual([{ lots: -500, price: 99 }]);
  });

  test('fill like any maker’s; the next one offers a twentieth of the rest', () => {
    const world = taken({ makerFee: '0.01', takerFee: '0.01' }, {}, '115');
    world.wait(MINUTE);
    const before = world.balance('vault');
    expect(world.order('bob', '0.5', '95')).toMatchObject({ status: 'filled' });
    expect(vaultLots(world)).toBe(9500);
    expect(world.balance('vault')).not.toBe(before);
    expect(offers(world)).toEqual([]);
    const fill = world.events.findLast(
      (event) => event.kind === 'orderFilled' && event.subaccount === world.idOf('vault'),
    );
    // 1 % of 47.5.
    expect(fill).toMatchObject({ role: 'maker', feeQuanta: 475_000n });
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -475, price: 95 }]);
  });

  test.each([
    { side: '10', index: '93', price: 93.93, lots: -500 },
    { side: '-10', index: '107', price: 105.93, lots: 500 },
  ])('are beyond mark and index by the maker fee, if that is more: $lots', (of) => {
    const world = new RiskWorld([{ tickSize: '0.01', makerFee: '0.01', takerFee: '0' }]);
    world.fund({ ann: '1000000', bob: '1000000', eve: '112' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.trade('eve', 'bob', of.side, '100');
    world.price(of.index);
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: of.lots, price: Math.round(of.price * 100) }]);
  });

  test('a short is bought back below mark and index, rounded down', () => {
    const world = new RiskWorld([{}]);
    world.fund({ ann: '1000000', bob: '1000000', eve: '100' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.trade('eve', 'bob', '-10', '100');
    world.price('106', 'M', '105');
    expect(vaultLots(world)).toBe(-10_000);
    world.wait(MINUTE);
    // 105 × 0.9995 is 104.9475.
    expect(offers(world)).toEqual([{ lots: 500, price: 104 }]);
  });

  test('a crossing one takes what the book offers at its price or better, and the rest rests', () => {
    const world = taken();
    world.price('90');
    world.order('bob', '0.1', '92');
    world.order('bob', '0.1', '91');
    world.order('bob', '0.1', '90');
    const from = world.events.length;
    world.wait(MINUTE);
    // 90.045 rounds up to 91.
    const fills = world.events
      .slice(from)
      .filter((event) => event.kind === 'orderFilled' && event.subaccount === world.idOf('vault'));
    expect(fills).toMatchObject([
      { role: 'taker', lots: -100, priceTicks: 92, cause: 'timer' },
      { role: 'taker', lots: -100, priceTicks: 91, cause: 'timer' },
    ]);
    expect(vaultLots(world)).toBe(9800);
    expect(offers(world)).toEqual([{ lots: -300, price: 91 }]);
    expect(world.engine.openOrders(world.idOf('vault'))).toMatchObject([{ postOnly: false }]);
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -490, price: 91 }]);
    expect(world.engine.checkInvariants()).toEqual([]);
  });

  test('a crossing one takes only what pays the taker fee beyond mark and index', () => {
    const world = taken({ takerFee: '0.03' }, {}, '132');
    world.price('90');
    world.order('bob', '0.1', '92');
    world.wait(MINUTE);
    // 92.7 rounds up to 93.
    expect(offers(world)).toEqual([{ lots: -500, price: 93 }]);
    world.order('bob', '0.1', '94');
    expect(offers(world)).toEqual([{ lots: -400, price: 93 }]);
    world.order('bob', '0.4', '93');
    world.order('bob', '0.1', '94');
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -375, price: 93 }]);
    expect(vaultLots(world)).toBe(9400);
  });

  test('one whose first fill closes the position leaves no timer', () => {
    const world = taken({}, { vaultLeaveShare: '1' });
    world.order('bob', '20', '96');
    world.wait(MINUTE);
    expect(vaultLots(world)).toBe(0);
    expect(offers(world)).toEqual([]);
    expect(stateOf(world.engine).vaultLeaveUs).toBe(Infinity);
  });

  test('a short takes offers below mark and index', () => {
    const world = new RiskWorld([{}]);
    world.fund({ ann: '1000000', bob: '1000000', eve: '100' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.trade('eve', 'bob', '-10', '100');
    world.price('106', 'M', '105');
    world.order('bob', '-0.1', '103');
    world.wait(MINUTE);
    expect(vaultLots(world)).toBe(-9900);
    expect(offers(world)).toEqual([{ lots: 400, price: 104 }]);
  });

  test('one beyond the highest price of the market is omitted', () => {
    const world = taken({ maxPrice: '100' });
    world.price('99');
    world.wait(MINUTE);
    // 99.0495 rounds up to the highest price.
    expect(offers(world)).toEqual([{ lots: -500, price: 100 }]);
    world.price('100');
    world.wait(MINUTE);
    expect(offers(world)).toEqual([]);
  });

  test('none is placed in a halted market', () => {
    const world = taken();
    const setStatus = (status: 'halted' | 'open'): string =>
      world.apply({
        kind: 'setMarketStatus',
        timeUs: timeUs(world.atUs),
        market: world.marketOf('M'),
        status,
      });
    expect(setStatus('halted')).toBe('ok');
    world.wait(MINUTE);
    expect(offers(world)).toEqual([]);
    expect(setStatus('open')).toBe('ok');
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -500, price: 95 }]);
  });

  test('keep their order id through fills and after their end', () => {
    const world = taken();
    world.wait(MINUTE);
    const digestOf = (): string => {
      const order = world.events.find((event) => event.kind === 'orderAccepted' && event.postOnly);
      if (order?.kind !== 'orderAccepted') throw new Error('no leave order');
      return new TrustOrderIds(world.engine, keccak).digestOf(world.engine.order(order.orderId)!);
    };
    const first = digestOf();
    world.order('bob', '0.1', '95');
    expect(digestOf()).toBe(first);
    world.wait(MINUTE);
    expect(digestOf()).toBe(first);
  });

  test('the last lots are closed, then the timer stops', () => {
    const world = taken({}, { vaultLeaveShare: '1' });
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -10_000, price: 95 }]);
    world.order('bob', '10', '95');
    expect(vaultLots(world)).toBe(0);
    expect(stateOf(world.engine).vaultLeaveUs).toBe(Infinity);
    const from = world.events.length;
    world.wait(10 * MINUTE);
    expect(world.events.slice(from).filter(({ kind }) => kind === 'orderAccepted')).toEqual([]);
  });

  test('a position after none in the same instant is offered a minute later', () => {
    const world = taken({}, { vaultLeaveShare: '1', termsNoticeMs: MINUTE });
    world.fund({ dan: '520' });
    world.trade('dan', 'bob', '-40', '94');
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: -10_000, price: 95 }]);
    const market = world.marketOf('M');
    const { spec } = world.engine.market(market);
    const tiers = spec.tiers.map((tier) => ({
      ...tier,
      initialMarginPpm: ppm(200_000),
      maintenanceMarginPpm: ppm(200_000),
    }));
    const terms = { ...spec, tiers };
    world.apply({ kind: 'setMarketTerms', timeUs: world.now, market, spec: terms });
    // The terms end dan's margin: he buys the vault's offer, and it takes over the rest.
    world.wait(MINUTE);
    expect(vaultLots(world)).toBe(-30_000);
    expect(offers(world)).toEqual([]);
    world.wait(MINUTE);
    expect(offers(world)).toEqual([{ lots: 30_000, price: 93 }]);
  });

  test("a share of 0 keeps the vault's positions", () => {
    const world = taken({}, { vaultLeaveShare: '0' });
    world.wait(3 * MINUTE);
    expect(offers(world)).toEqual([]);
  });

  test('none is placed in a frozen market', () => {
    const world = taken({}, STALE);
    freeze(world, 'M');
    const from = world.events.length;
    world.wait(2 * MINUTE);
    expect(world.events.slice(from).filter(({ kind }) => kind === 'orderAccepted')).toEqual([]);
  });

  test('waiting at once or in parts ends in the same state, and so does a restored exchange', () => {
    const [whole, parts] = [taken(), taken()];
    whole.wait(5 * MINUTE);
    for (let i = 0; i < 300; i++) parts.wait(1000);
    // Without the sequence numbers of the orders' last changes.
    const ordersOf = (world: RiskWorld): unknown[] =>
      world.engine.openOrders(world.idOf('vault')).map((order) => ({ ...order, lastUpdateSeq: 0 }));
    expect(ordersOf(parts)).toEqual(ordersOf(whole));
    expect(ordersOf(whole)).toHaveLength(1);
    expect(parts.engine.nextTimerUs()).toBe(whole.engine.nextTimerUs());
    const fork = whole.engine.fork();
    expect(fork.stateHash()).toBe(whole.engine.stateHash());
    whole.wait(MINUTE);
    fork.apply(whole.commands.at(-1)!);
    expect(fork.stateHash()).toBe(whole.engine.stateHash());
    expect(fork.nextTimerUs()).toBe(whole.engine.nextTimerUs());
  });
});

describe('value of a frozen vault position', () => {
  // Cash 1,040 and 10 from 94; frozen at 96: counted at 50 % for redemptions and 150 % for
  // deposits.
  test('a long counts at mark × (1 ∓ haircut) against the requester', () => {
    const world = taken({}, STALE);
    const cash = stateOf(world.engine).vault.cash;
    world.price('97');
    freeze(world, 'M');
    const state = stateOf(world.engine);
    // 48.5 rounds down to 48, 145.5 up to 146.
    expect(dollars(vaultValue(state, 'burn') - cash)).toBe(String(480 - 940));
    expect(dollars(vaultValue(state, 'mint') - cash)).toBe(String(1460 - 940));
  });

  test('a short counts at mark × (1 ± haircut)', () => {
    const world = new RiskWorld([{}], STALE);
    world.fund({ ann: '1000000', bob: '1000000', eve: '100' });
    world.price('100');
    world.transfer('ann', 'vault', '1000');
    world.trade('eve', 'bob', '-10', '100');
    world.price('106');
    const cash = stateOf(world.engine).vault.cash;
    world.price('105');
    freeze(world, 'M');
    const state = stateOf(world.engine);
    expect(dollars(vaultValue(state, 'burn') - cash)).toBe(String(1060 - 1580));
    expect(dollars(vaultValue(state, 'mint') - cash)).toBe(String(1060 - 520));
  });

  test('deposits and withdrawals continue', () => {
    const world = taken({}, STALE);
    freeze(world, 'M');
    expect(world.transfer('ann', 'vault', '10')).toBe('ok');
    expect(world.transfer('vault', 'ann', '10')).toBe('ok');
    // The vault's own withdrawable amount excludes the haircut of 470 and the requirement of 94.
    const limit = dollars(world.margin('vault').withdrawableQuanta);
    expect(Number(limit)).toBeLessThan(1040 - 470 - 90);
    expect(world.engine.checkInvariants()).toEqual([]);
  });
});
