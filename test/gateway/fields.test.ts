/** Readers of request fields: what each accepts at its limits, and the exact text of each refusal. */
import { expect, test } from 'vitest';
import { Fields } from '../../src/gateway/fields.ts';
import { RequestError } from '../../src/gateway/request-error.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

type Reader = (fields: Fields) => unknown;

const NAMES = ['f', 'g'];
/** The address of the examples of EIP-55. */
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const WRONG = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const HEX = 'aB'.repeat(32);

function answer(read: Reader, input: unknown, query = false, prefix = ''): unknown {
  try {
    return read(new Fields(input, NAMES, query, prefix));
  } catch (error) {
    if (error instanceof RequestError) return `! ${error.message}`;
    throw error;
  }
}

const refused = (field: string, problem: string): string => `! ${field}: ${problem}`;

const text: Reader = (fields) => fields.text('f');
const symbol: Reader = (fields) => fields.symbol('f');
const decimal: Reader = (fields) => fields.decimal('f');
const feedId: Reader = (fields) => fields.feedId('f');
const orderId: Reader = (fields) => fields.orderId('f');
const clientId: Reader = (fields) => fields.clientId('f');
const boolean: Reader = (fields) => fields.boolean('f');
const int64: Reader = (fields) => fields.int64('f');
const index: Reader = (fields) => fields.subaccountIndex('f');
const texts: Reader = (fields) => fields.texts('f', 2);
const list: Reader = (fields) => fields.list('f');
const words: Reader = (fields) => fields.words('f');
const object: Reader = (fields) => fields.object('f', ['a']).body;
const indices: Reader = (fields) => fields.subaccountIndices('f', 2);
const plain: Reader = (fields) => fields.address('f');
const checked: Reader = (fields) => fields.address('f', keccak);
const addresses: Reader = (fields) => fields.addresses('f', 2, keccak);

const DECIMAL = 'must be a decimal: optional -, digits, optional point and digits';
const INT64 = 'must be an integer from 0 to 9223372036854775807';
const INDEX = 'must be an integer from 0 to 2147483647';
const CLIENT_ID = 'must have 1 to 64 printable ASCII characters';
const FEED = 'must be a feed id: 0x and 64 hex digits';
const ORDER = 'must be an order id: 64 hex digits';
const ADDRESS = 'must be an address: 0x and 40 hex digits';
const CHECKSUM = 'has a wrong checksum (EIP-55); send it in lower case to skip the check';
const LENGTH = 'must have 1 to 64 characters';

interface Refusal {
  readonly at?: string;
  readonly problem: string;
}
const no = (problem: string, at = 'f'): Refusal => ({ at, problem });

const ROWS: readonly (readonly [name: string, Reader, value: unknown, expected: unknown])[] = [
  ['text', text, '', ''],
  ['text', text, 1, no('must be a string')],
  ['text', text, ['a', 'b'], no('must be a string')],
  ['text', text, null, no('must be a string')],
  ['text', text, undefined, no('is required')],
  ['symbol', symbol, 'a', 'a'],
  ['symbol', symbol, 'a'.repeat(64), 'a'.repeat(64)],
  ['symbol', symbol, 'a'.repeat(65), no(LENGTH)],
  ['symbol', symbol, '', no(LENGTH)],
  ['decimal', decimal, '1.50', { digits: 15n, scale: 1 }],
  ['decimal', decimal, '1e3', no(DECIMAL)],
  ['decimal', decimal, `x${'1'.repeat(37)}`, no(DECIMAL)],
  ['decimal', decimal, '1'.repeat(39), no('must have at most 38 characters, got 39')],
  ['feed id', feedId, `0x${HEX}`, `0x${HEX.toLowerCase()}`],
  ['feed id', feedId, HEX, no(FEED)],
  ['feed id', feedId, `0x${HEX}0`, no(FEED)],
  ['feed id', feedId, `00x${HEX}`, no(FEED)],
  ['order id', orderId, HEX, HEX.toLowerCase()],
  ['order id', orderId, `0x${HEX}`, HEX.toLowerCase()],
  ['order id', orderId, `00x${HEX}`, no(ORDER)],
  ['order id', orderId, `${HEX}0`, no(ORDER)],
  ['order id', orderId, '', no(ORDER)],
  ['client id', clientId, ' ~', ' ~'],
  ['client id', clientId, 'a'.repeat(64), 'a'.repeat(64)],
  ['client id', clientId, 'a'.repeat(65), no(CLIENT_ID)],
  ['client id', clientId, '', no(CLIENT_ID)],
  ['client id', clientId, 'é', no(CLIENT_ID)],
  ['boolean', boolean, false, false],
  ['boolean', boolean, 'true', no('must be true or false')],
  ['boolean', boolean, null, no('must be true or false')],
  ['boolean', boolean, undefined, no('is required')],
  ['int64', int64, 0, 0n],
  ['int64', int64, -1, no(INT64)],
  ['int64', int64, 2n ** 63n - 1n, 2n ** 63n - 1n],
  ['int64', int64, 2n ** 63n, no(INT64)],
  ['int64', int64, Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991n],
  ['int64', int64, 2 ** 53, no('must be given as a bigint beyond 9007199254740991')],
  ['int64', int64, 0.5, no('must be an integer')],
  ['int64', int64, Infinity, no('must be an integer')],
  ['int64', int64, '1', no('must be an integer')],
  ['int64', int64, null, no('is required')],
  ['int64', int64, undefined, no('is required')],
  ['index', index, 2_147_483_647, 2_147_483_647],
  ['index', index, 2_147_483_648, no(INDEX)],
  ['index', index, -1, no(INDEX)],
  ['index', index, 0, 0],
  ['texts', texts, [], []],
  ['texts', texts, ['a', 'b'], ['a', 'b']],
  ['texts', texts, ['a', 'b', 'c'], no('must have at most 2 entries')],
  ['texts', texts, 'a', no('must be an array of strings')],
  ['texts', texts, ['a', 1], no('must be a string', 'f[1]')],
  ['texts', texts, undefined, no('is required')],
  ['list', list, [1], [1]],
  ['list', list, {}, no('must be an array')],
  ['list', list, undefined, no('is required')],
  ['words', words, 'a,b', ['a', 'b']],
  ['words', words, ['a,b', 'c'], ['a', 'b', 'c']],
  ['words', words, 1, no('must be a string')],
  ['words', words, undefined, no('must be a string')],
  ['words', words, ['a', 1], no('must be a string')],
  ['object', object, { a: 1 }, { a: 1 }],
  ['object', object, { b: 1 }, no('unknown field', 'f.b')],
  ['object', object, [], no('must be an object')],
  ['object', object, null, no('must be an object')],
  ['object', object, undefined, no('is required')],
  ['indices', indices, [0, 1], [0, 1]],
  ['indices', indices, [0, 1, 2], no('must have at most 2 entries')],
  ['indices', indices, [0, -1], no(INDEX, 'f[1]')],
  ['indices', indices, ['0'], no('must be an integer', 'f[0]')],
  ['address', plain, WRONG, WRONG.toLowerCase()],
  ['address', plain, `${MIXED}0`, no(ADDRESS)],
  ['address', plain, `0${MIXED}`, no(ADDRESS)],
  ['address', plain, `0x${'g'.repeat(40)}`, no(ADDRESS)],
  ['checked address', checked, MIXED, MIXED.toLowerCase()],
  ['checked address', checked, MIXED.toLowerCase(), MIXED.toLowerCase()],
  ['checked address', checked, WRONG, no(CHECKSUM)],
  ['addresses', addresses, [MIXED], [MIXED.toLowerCase()]],
  ['addresses', addresses, [MIXED, WRONG], no(CHECKSUM, 'f[1]')],
  ['addresses', addresses, [], no('must have at least one entry')],
];

const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'problem' in value;

test.each(ROWS)('%s %#', (_, read, value, expected) => {
  const input = value === undefined ? {} : { f: value };
  const at = (prefix: string): unknown =>
    isRefusal(expected) ? refused(prefix + (expected.at ?? 'f'), expected.problem) : expected;
  expect(answer(read, input)).toEqual(at(''));
  expect(answer(read, input, false, 'orders[3]')).toEqual(at('orders[3].'));
});

test('a query has integers as text, and a parameter that is repeated is an array', () => {
  const most = '9'.repeat(38);
  expect(answer((fields) => fields.integer('f'), { f: '-12' }, true)).toBe(-12n);
  expect(answer((fields) => fields.integer('f'), { f: most }, true)).toBe(BigInt(most));
  for (const f of [`${most}9`, '', '1a', 'a1', '1.5', '-']) {
    expect(answer(int64, { f }, true)).toBe(refused('f', 'must be an integer'));
  }
  const twice = { f: ['1', '2'] };
  for (const read of [int64, text]) {
    expect(answer(read, twice, true)).toBe(refused('f', 'is given more than once'));
  }
  expect(answer(int64, twice)).toBe(refused('f', 'must be an integer'));
  expect(answer(indices, { f: ['7'] }, true)).toEqual([7]);
  expect(answer((fields) => fields.object('f', ['a']).int64('a'), { f: { a: '7' } }, true)).toBe(
    7n,
  );
});

test('a body is an object with known fields of its own', () => {
  for (const body of [null, undefined, 'f', 1, []]) {
    expect(answer(text, body)).toBe(refused('body', 'must be an object'));
    expect(answer(text, body, false, 'orders[0]')).toBe(refused('orders[0]', 'must be an object'));
  }
  expect(answer(text, { f: 'a', h: 1 })).toBe(refused('h', 'unknown field'));
  const long = 'h'.repeat(65);
  expect(answer(text, { [long.slice(1)]: 1 })).toBe(refused(long.slice(1), 'unknown field'));
  expect(answer(text, { [long]: 1 })).toBe(refused(`${long.slice(1)}…`, 'unknown field'));
  expect(answer(text, Object.create({ f: 'inherited' }))).toBe(refused('f', 'is required'));
  expect(new Fields({ f: null }, NAMES, false).has('f')).toBe(false);
  expect(new Fields({}, NAMES, false).has('f')).toBe(false);
  expect(new Fields({ f: false }, NAMES, false).has('f')).toBe(true);
});

test('the canonical text has the other fields that are given, by name', () => {
  const names = ['b', 'a', 'c', 'd'];
  const fields = new Fields({ b: 2, a: '1', c: null, d: 3n }, names, true);
  expect(fields.canonicalText(['d'])).toBe('a=1\nb=2');
  expect(fields.canonicalText([])).toBe('a=1\nb=2\nd=3');
});
