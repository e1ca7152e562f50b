/** The strategy stays on the screen through refusals that pass, and comes back with the server. */
import { afterEach, expect, it, vi } from 'vitest';
import { feedState } from '../../src/web/exchange/feeds.ts';
import { replay } from '../../src/web/exchange/replay-state.ts';
import { simToken } from '../../src/web/exchange/session.ts';
import { followStrategy, strategy } from '../../src/web/exchange/strategy-state.ts';

let status = 200;
let requests = 0;

afterEach(() => {
  simToken.value = null;
  replay.value = null;
  feedState.value = 'connecting';
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = async (answer: number): Promise<[boolean, number]> => {
  [status, requests] = [answer, 0];
  await vi.advanceTimersByTimeAsync(5000);
  return [strategy.value !== null, requests];
};

it('only a lasting refusal ends the reads, until the next connection', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', () => {
    requests += 1;
    return Promise.resolve(new Response('{}', { status }));
  });
  followStrategy();
  replay.value = {} as never;
  simToken.value = 'token';
  feedState.value = 'live';
  expect(await pass(200)).toEqual([true, 5]);
  for (const passing of [429, 500, 502, 503]) expect(await pass(passing)).toEqual([true, 5]);
  for (const lasting of [400, 401, 403]) {
    expect(await pass(lasting)).toEqual([false, 1]);
    expect(await pass(200)).toEqual([false, 0]);
    feedState.value = 'lost';
    feedState.value = 'live';
    expect(await pass(200)).toEqual([true, 5]);
  }
  feedState.value = 'lost';
  expect(await pass(200)).toEqual([true, 0]);
});
