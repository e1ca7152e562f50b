/** The longest task of a page's main thread, from a trace of Chromium. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args: { readonly name?: string };
  /** Processor time in µs: other work of the machine does not count. */
  readonly tdur?: number;
}

/** Processor time of the longest task of the page's main thread. */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  const categories = ['disabled-by-default-devtools.timeline', '__metadata'];
  await session.send('Tracing.start', { traceConfig: { includedCategories: categories } });
  await work();
  // A task is in the trace once it has ended, which may be after its answer.
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        setTimeout(resolve);
      }),
  );
  const complete = new Promise((resolve) => {
    session.on('Tracing.tracingComplete', resolve);
  });
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const main = events
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${String(pid)} ${String(tid)}`);
  const tasks = events.filter(
    ({ name, pid, tid }) => name === 'RunTask' && main.includes(`${String(pid)} ${String(tid)}`),
  );
  expect(tasks.length).toBeGreaterThan(0);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}
