/** Jobs that are still awaited when a search is over. */
import { expect, test } from 'vitest';
import { RemoteJobs } from '../../src/campaigns/remote-jobs.ts';
import type { EndedJob, JobStore, NewJob } from '../../src/postgres/jobs/job-store.ts';

/** A store of which only the first job ends. */
class Slow {
  polls = 0;
  private first: EndedJob[] = [];

  want(_campaign: string, jobs: readonly NewJob[]): Promise<void> {
    this.first = jobs.slice(0, 1).map(({ id }) => ({ id, result: '"done"', error: null }));
    return Promise.resolve();
  }
  ended(): Promise<EndedJob[]> {
    this.polls += 1;
    return Promise.resolve(this.first.splice(0));
  }
  adopt(): Promise<void> {
    return Promise.resolve();
  }
  status(): Promise<object> {
    return Promise.resolve({ status: 'done' });
  }
}

test('closed jobs deliver null and ask the database for nothing more', async () => {
  const store = new Slow();
  const jobs = new RemoteJobs({
    ...{ store: store as unknown as JobStore, campaign: 'c', version: 'v' },
    stopped: () => false,
  });
  const [first, second] = [jobs.run('arena', { arena: 0 }), jobs.run('arena', { arena: 1 })];
  expect(await first).toBe('"done"');
  await new Promise((resolve) => setTimeout(resolve, 150));
  await jobs.close();
  expect(await second).toBeNull();
  expect(await jobs.run('arena', { arena: 2 })).toBeNull();
  const { polls } = store;
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(store.polls).toBe(polls);
  expect(jobs.counts.waiting).toBe(0);
});
