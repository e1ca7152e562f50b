/** Answers that do not come from the exchange: pages of proxies, and empty ones. */
import { afterEach, expect, it, vi } from 'vitest';
import { ask, NoAnswer, Refused } from '../../src/web/exchange/requests.ts';
import { indexOf } from '../../src/web/exchange/text.ts';

const PAGE = `<html><body>${'x'.repeat(3000)}</body></html>`;

const answers = (status: number, text: string): void => {
  const response = new Response(text === '' ? null : text, { status });
  vi.stubGlobal('fetch', () => Promise.resolve(response));
};
const fault = (): Promise<unknown> =>
  ask('POST', '/account/order').catch((error: unknown) => error);

afterEach(() => {
  vi.unstubAllGlobals();
});

it('a page with status 200 is no answer of the exchange', async () => {
  answers(200, PAGE);
  expect(await fault()).toBeInstanceOf(NoAnswer);
  answers(200, '{"orderId":"1"}');
  expect((await ask('GET', '/time')).body).toEqual({ orderId: '1' });
  answers(204, '');
  expect((await ask('GET', '/time')).body).toBe('');
});

it.each([
  [403, PAGE, 'status 403'],
  [502, '', 'status 502'],
  [400, '"price must be positive"', 'price must be positive'],
  [503, 'try later', 'try later'],
])('a refusal with status %i is shown in few words', async (status, text, shown) => {
  answers(status, text);
  const error = await fault();
  expect(error).toBeInstanceOf(Refused);
  expect(error).toMatchObject({ status, message: shown });
});

it.each(['', ' ', '-1', '1.5', '1e3', 'abc', '4294967296', '0x1'])(
  'the text %j is no subaccount',
  (text) => {
    expect(indexOf(text)).toBeNull();
  },
);

it('a subaccount has 32 bits', () => {
  expect([' 0', '7', '4294967295'].map(indexOf)).toEqual([0, 7, 4_294_967_295]);
});
