/** The order ticket's request: exactly what was typed, or a fault at its field. */
import { expect, it } from 'vitest';
import {
  boundOf,
  effectOf,
  FAR_MS,
  isMovable,
  isPlainIoc,
  moveFault,
  movedTerms,
  orderRequest,
  soonMs,
  type Movable,
  type Typed,
} from '../../src/web/exchange/order-request.ts';

const TYPED: Typed = {
  kind: 'limit',
  side: 'buy',
  price: '60000',
  size: '1',
  trigger: '',
  trailing: '1',
  slices: '5',
  periodS: '60',
  postOnly: false,
  reduceOnly: false,
  bracket: false,
  takeProfit: '',
  stopLoss: '',
};
const PLACE = {
  account: `0x${'1'.repeat(40)}`,
  subaccountIndex: 0,
  symbol: 'BTC-USD-PERP',
  tickSize: '0.5',
  lotSize: '0.1',
  best: '60000',
};

const resultOf = (change: Partial<Typed>) => orderRequest({ ...TYPED, ...change }, PLACE);
const bodyOf = (change: Partial<Typed>) => resultOf(change).made?.body;
const sizesOf = (change: Partial<Typed>) =>
  (bodyOf(change)?.['orders'] as { quantity: string }[] | undefined)?.map((one) => one.quantity);

const NOT_A_NUMBER = 'This is not a number';
const COMMA = 'A comma is ambiguous: use a point';
const STOP = { kind: 'stopLoss', price: '', trigger: '50000' } as const;
const TRAIL = { kind: 'trailingStop', price: '' } as const;
const BRACKET = { bracket: true, takeProfit: '65000', stopLoss: '55000' } as const;
const TWAP = { kind: 'twap' } as const;
const ICEBERG = { kind: 'iceberg' } as const;

it.each<[string, Partial<Typed>, string, string]>([
  ['a size with a comma', { size: '0,5' }, 'quantity', COMMA],
  ['a size with thousands', { size: '1,000.5' }, 'quantity', COMMA],
  ['a size with an exponent', { size: '1e3' }, 'quantity', NOT_A_NUMBER],
  ['a negative size', { size: '-1' }, 'quantity', NOT_A_NUMBER],
  ['a size in other digits', { size: '١' }, 'quantity', NOT_A_NUMBER],
  ['a size without end', { size: '1'.repeat(41) }, 'quantity', 'This number has too many digits'],
  ['no size', { size: '0.0' }, 'quantity', 'The size must be positive'],
  [
    'a part of a lot',
    { size: '0.15' },
    'quantity',
    'The size must be a multiple of the lot size 0.1',
  ],
  ['a price that ends in a point', { price: '60000.' }, 'price', NOT_A_NUMBER],
  ['the limit of a stop with a space', { ...STOP, price: '49 000' }, 'price', NOT_A_NUMBER],
  ['the limit of a stop with a point', { ...STOP, price: '49000.' }, 'price', NOT_A_NUMBER],
  ['the trigger of a stop', { ...STOP, trigger: '5o000' }, 'triggerPrice', NOT_A_NUMBER],
  ['a trigger of 0', { ...STOP, trigger: '0.0' }, 'triggerPrice', 'The trigger must be positive'],
  ['the start of a trailing stop', { ...TRAIL, trigger: '61000.' }, 'triggerPrice', NOT_A_NUMBER],
  ['a distance with a comma', { ...TRAIL, trailing: '1,5' }, 'trailingPercent', COMMA],
  ['a take profit', { ...BRACKET, takeProfit: '65000.' }, 'takeProfit', NOT_A_NUMBER],
  ['a stop loss', { ...BRACKET, stopLoss: '55 000' }, 'stopLoss', NOT_A_NUMBER],
  [
    'a bracket without legs',
    { bracket: true },
    'takeProfit',
    'A bracket needs a take profit, a stop loss or both',
  ],
  ['no number of parts', { ...TWAP, slices: 'x' }, 'orders', 'This is not a whole number'],
  ['half a part', { ...TWAP, slices: '2.5' }, 'orders', 'This is not a whole number'],
  ['no parts', { ...TWAP, slices: '0' }, 'orders', 'Parts must be from 1 to 100'],
  ['101 parts', { ...TWAP, size: '50', slices: '101' }, 'orders', 'Parts must be from 1 to 100'],
  ['more parts than lots', { ...TWAP, slices: '11' }, 'orders', 'The size has only 10 lots'],
  [
    'an iceberg that does not divide',
    { ...ICEBERG, slices: '7' },
    'orders',
    'Equal parts need another number, such as 5',
  ],
  [
    'a sliced part of a lot',
    { ...TWAP, size: '1.05' },
    'quantity',
    'The size must be a multiple of the lot size 0.1',
  ],
  ['a period without length', { ...TWAP, periodS: '0' }, 'period', 'The time must be positive'],
  ['a period of microseconds', { ...TWAP, periodS: '1.0001' }, 'period', 'At most three decimals'],
])('refuses %s at its field and sends nothing', (_, change, field, text) => {
  expect(resultOf(change)).toEqual({ made: null, fault: { field, text } });
});

it.each<[string, Partial<Typed>]>([
  ['size', { size: ' ' }],
  ['price of a limit', { price: '' }],
  ['trigger of a stop', { ...STOP, trigger: '' }],
  ['distance of a trailing stop', { ...TRAIL, trailing: '' }],
  ['period of a TWAP', { ...TWAP, periodS: '' }],
])('waits for the %s without a fault', (_, change) => {
  expect(resultOf(change)).toEqual({ made: null, fault: null });
});

it('leaves out only fields that are empty', () => {
  expect(bodyOf({ ...TRAIL, trigger: '' })).not.toHaveProperty('triggerPrice');
  expect(bodyOf({ ...TRAIL, trigger: '61000' })).toMatchObject({ triggerPrice: '61000' });
  expect(bodyOf({ ...BRACKET, stopLoss: '' })).not.toHaveProperty('stopLoss');
  expect(bodyOf(BRACKET)).toMatchObject({
    takeProfit: { triggerPrice: '65000' },
    stopLoss: { triggerPrice: '55000' },
  });
  expect(bodyOf({ ...STOP, side: 'sell' })).toMatchObject({
    price: '49000.0',
    flags: { ioc: true },
  });
  expect(bodyOf({ ...STOP, side: 'sell', price: '.5' })).toMatchObject({
    price: '0.5',
    flags: { ioc: false },
  });
});

it('ignores fields of other kinds, which are not shown', () => {
  const hidden = { trigger: '1,5', trailing: 'x', slices: 'x', periodS: 'x', takeProfit: 'x' };
  expect(resultOf(hidden).fault).toBeNull();
  expect(bodyOf({ ...hidden, kind: 'market', price: 'x' })).toMatchObject({ price: '61200.0' });
});

it.each<[string, Partial<Typed>, string[]]>([
  ['10 lots in 5', { ...TWAP, slices: '5' }, ['0.2', '0.2', '0.2', '0.2', '0.2']],
  ['10 lots in 7', { ...TWAP, slices: '7' }, ['0.2', '0.2', '0.2', '0.1', '0.1', '0.1', '0.1']],
  ['10 lots in 4, iceberg', { ...ICEBERG, slices: '4' }, ['0.3', '0.3', '0.3', '0.1']],
  ['sold', { ...TWAP, side: 'sell', slices: '3' }, ['-0.4', '-0.3', '-0.3']],
  [
    'beyond exact doubles',
    { ...TWAP, size: '90071992547409.3', slices: '2' },
    ['45035996273704.7', '45035996273704.6'],
  ],
])('divides exactly: %s', (_, change, sizes) => {
  expect(sizesOf(change)).toEqual(sizes);
});

it('sends parts whose sum is the size, whatever the size and number of parts', () => {
  for (let lots = 1; lots <= 130; lots += 1) {
    for (let parts = 1; parts <= 101; parts += 1) {
      for (const kind of ['twap', 'iceberg'] as const) {
        const size = (lots / 10).toFixed(1);
        const sent = sizesOf({ kind, size, slices: String(parts) });
        if (sent === undefined) continue;
        const sum = sent.reduce((all, one) => all + Math.round(Number(one) * 10), 0);
        if (sum !== lots || sent.length !== parts) expect([lots, parts, kind]).toEqual(sent);
      }
    }
  }
});

it.each<[Partial<Typed>, string]>([
  [{}, 'Buy 1.0 at 60000'],
  [{ size: '.5' }, 'Buy 0.5 at 60000'],
  [{ kind: 'market', side: 'sell' }, 'Sell 1.0 at market'],
  [{ ...TWAP, size: '1.2', slices: '7' }, 'Buy 1.2 in 7 parts'],
  [{ ...ICEBERG, slices: '4' }, 'Buy 1.0 at 60000, 4 parts'],
  [STOP, 'Buy 1.0 when mark reaches 50000'],
  [TRAIL, 'Buy 1.0, trailing 1 %'],
])('describes what is sent: %j', (change, text) => {
  const { made } = resultOf(change);
  expect(made && effectOf(made, { ...TYPED, ...change }, PLACE.lotSize)).toBe(text);
});

it.each([
  ['60000', 'buy', '0.5', '61200.0'],
  ['60000', 'sell', '0.5', '58800.0'],
  ['60000.5', 'buy', '0.5', '61200.5'],
  ['60000.5', 'sell', '0.5', '58800.5'],
  ['0.0001', 'sell', '0.0001', '0.0001'],
] as const)('bounds %s %s on the tick %s within 2 %%', (price, side, tick, bound) => {
  expect(boundOf(price, side, tick)).toBe(bound);
});

const ORDER: Movable = {
  orderId: 'a',
  orderType: 'stopLoss',
  status: 'pending',
  price: '49000.0',
  quantity: '-1.0',
  triggerPrice: '50000.0',
  parentOrderId: null,
  ocoGroupId: null,
  flags: { ioc: true },
};
const LIMITED = { flags: { ioc: false }, price: '49900.5' };

it.each<[string, Partial<Movable>, string, unknown]>([
  ['an immediate sell stop', {}, '45000', { price: '44100.0', triggerPrice: '45000' }],
  [
    'an immediate buy stop',
    { quantity: '1.0' },
    '55000',
    { price: '56100.0', triggerPrice: '55000' },
  ],
  ['a stop with a limit, down', LIMITED, '45000', { price: '44900.5', triggerPrice: '45000' }],
  ['a stop with a limit, up', LIMITED, '50000.5', { price: '49901.0', triggerPrice: '50000.5' }],
  ['a limit below zero', LIMITED, '99.5', null],
  ['a limit order', { triggerPrice: null, orderType: 'limit' }, '45000', { price: '45000' }],
])('moves %s', (_, change, to, terms) => {
  expect(movedTerms({ ...ORDER, ...change }, to, '0.5')).toEqual(terms);
});

it('moves neither slices, trailing stops nor a stop that has fired', () => {
  expect(isMovable(ORDER)).toBe(true);
  expect(isMovable({ ...ORDER, orderType: 'limit', status: 'partiallyFilled' })).toBe(true);
  for (const orderType of ['twap', 'iceberg', 'trailingStop', 'limit']) {
    expect(isMovable({ ...ORDER, orderType })).toBe(false);
  }
  expect(isMovable({ ...ORDER, status: 'new' })).toBe(false);
});

it('refuses to move an order whose cancellation ends others', () => {
  const leg = { ...ORDER, orderId: 'b', parentOrderId: 'a' };
  expect(moveFault(ORDER, [ORDER])).toBeNull();
  expect(moveFault(ORDER, [ORDER, leg])).toMatch(/take profit or stop loss/);
  expect(moveFault(leg, [ORDER, leg])).toMatch(/another order/);
  expect(moveFault({ ...ORDER, ocoGroupId: 'c' }, [])).toMatch(/pair/);
});

it('ends an immediate order soon, but not a triggered one nor on a virtual clock', () => {
  expect(isPlainIoc(bodyOf({ kind: 'market' }) ?? {})).toBe(true);
  expect(isPlainIoc(bodyOf({}) ?? {})).toBe(false);
  expect(isPlainIoc(bodyOf(STOP) ?? {})).toBe(false);
  const now = 1_700_000_000_000;
  expect(soonMs({ ms: now - 2000, atMs: now - 1000 }, now)).toBe(now + 29_000);
  expect(soonMs({ ms: now - 2000, atMs: now + 1000 }, now)).toBe(now + 28_000);
  expect(soonMs({ ms: now - 86_400_000, atMs: now }, now)).toBe(FAR_MS);
  expect(soonMs(null, now)).toBe(FAR_MS);
});
