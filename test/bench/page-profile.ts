/**
 * Processor profiles of a page and of its workers in Chromium: the functions with the most own
 * time, by thread. Sampling slows the page, so figures of a profiled run are no measurement.
 */
import type { CDPSession, Page } from 'playwright-core';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
}

/** A thread that takes commands of the protocol. */
type Send = (method: string, params?: object) => Promise<unknown>;

interface PageProfile {
  readonly begin: () => Promise<void>;
  /** Lines of text: own milliseconds and names, by thread. */
  readonly end: (title: string) => Promise<string>;
}

const SAMPLE_US = 200;
const SHOWN = 28;

/** To be called before the page starts its workers. */
export async function profileOf(page: Page): Promise<PageProfile> {
  const session = await page.context().newCDPSession(page);
  const threads = new Map<string, Send>();
  threads.set('page', (method, params) => session.send(method as 'Profiler.enable', params));
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'worker')
      threads.set(`worker ${sessionId}`, sender(session, sessionId));
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => threads.delete(`worker ${sessionId}`));
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  return {
    begin: async () => {
      for (const send of threads.values()) {
        await send('Profiler.enable');
        await send('Profiler.setSamplingInterval', { interval: SAMPLE_US });
        await send('Profiler.start');
      }
    },
    end: async (title) => {
      const lines = [`== ${title}`];
      for (const [name, send] of threads) {
        const { profile } = (await send('Profiler.stop')) as { readonly profile: Profile };
        lines.push(`-- ${name.split(' ')[0] ?? name}`, ...hottest(profile));
      }
      return lines.join('\n');
    },
  };
}

/** Sends to a worker through the session of its page. */
function sender(session: CDPSession, sessionId: string): Send {
  let lastId = 0;
  const open = new Map<number, (result: unknown) => void>();
  session.on('Target.receivedMessageFromTarget', (event) => {
    if (event.sessionId !== sessionId) return;
    const { id, result } = JSON.parse(event.message) as Reply;
    if (id !== undefined) open.get(id)?.(result);
  });
  return async (method, params = {}) => {
    lastId += 1;
    const id = lastId;
    const reply = new Promise((resolve) => open.set(id, resolve));
    await session.send('Target.sendMessageToTarget', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    });
    return reply;
  };
}

function hottest({ nodes, samples, timeDeltas }: Profile): string[] {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName: name, lineNumber } }) => [
      id,
      name || `(line ${String(lineNumber)})`,
    ]),
  );
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  samples.forEach((id, i) => {
    const ms = (timeDeltas[i] ?? 0) / 1000;
    const name = names.get(id) ?? '';
    own.set(name, (own.get(name) ?? 0) + ms);
    const seen = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      seen.add(names.get(at) ?? '');
    }
    for (const one of seen) whole.set(one, (whole.get(one) ?? 0) + ms);
  });
  const top = (of: Map<string, number>, title: string): string =>
    `${title}: ${[...of]
      .sort((a, b) => b[1] - a[1])
      .slice(0, SHOWN)
      .map(([name, ms]) => `${name} ${ms.toFixed(0)}`)
      .join(' · ')}`;
  return [top(own, 'own ms'), top(whole, 'with callees ms')];
}
