/** A served replay of a plan's data, and runs of a strategy on it over HTTP and WebSocket. */
import { Wallet } from 'ethers';
import type { Command } from '../../src/engine/commands.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import type { FeedClient } from '../../src/http-client/feed-client.ts';
import { Replay } from '../../src/http/replay.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { ReplayRun } from '../../src/live/replay-run.ts';
import { deposit, readReplay } from '../../src/live/sim-client.ts';
import { openMarkets } from '../../src/run-plan/plan.ts';
import type { PlannedStrategy, RunPlan } from '../../src/run-plan/run-plan.ts';
import { exchangeTerms } from '../../src/run-plan/run-terms.ts';
import { watchPromises } from '../../src/strategy-loader/promise-watch.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { parseParameters } from '../../src/strategy/definition.ts';
import { Served, SIM_TOKEN, type ServedOptions } from '../http/served.ts';

export const WALLET = new Wallet(`0x${'8'.repeat(64)}`);

export async function serveReplay(
  plan: RunPlan,
  more: ServedOptions & { readonly speed?: number; readonly played?: readonly Command[] } = {},
): Promise<Served> {
  const markets = await openMarkets(plan, plan.fromUs ?? null);
  const { tape, beginUs, endUs, sampleUs, barsEmitted, config, genesisUs, specs } = markets;
  const { minRecordedUs } = tape;
  return Served.start({
    config,
    opening: specs.map((spec) => ({ kind: 'listMarket', timeUs: genesisUs, spec })),
    prepare: async (host) => {
      host.replay = await Replay.open({
        host,
        facts: {
          dataset: 'test',
          firstUs: beginUs,
          lastUs: endUs,
          sampleUs,
          minRecordedUs,
          barsEmitted,
          terms: exchangeTerms(markets),
        },
        batches: tape.batches,
        played: more.played ?? [],
        speed: more.speed ?? null,
        // An unhandled rejection fails the test.
        onProblem: (error) => {
          throw error;
        },
      });
    },
    ...more,
  });
}

/** Planted fault: one message of the trade feed, by its number from 1, comes after the next one. */
class DelayingClient extends HttpMatcherClient {
  private readonly delayed: number;

  constructor(url: string, delayed: number) {
    super({ url, signer: WALLET });
    this.delayed = delayed;
  }

  override feeds(): FeedClient {
    const feeds = super.feeds();
    const listen = feeds.listen.bind(feeds);
    let count = 0;
    let held: (() => void) | null = null;
    feeds.listen = (source, params, { onUpdate, onError }) =>
      listen(source, params, {
        onError,
        onUpdate: (data) => {
          if (source === 'trade' && ++count === this.delayed) {
            held = () => {
              onUpdate(data);
            };
            return;
          }
          onUpdate(data);
          if (source !== 'trade') return;
          held?.();
          held = null;
        },
      });
    return feeds;
  }
}

export async function liveOnReplay(
  served: Served,
  plan: RunPlan,
  { bundle, parameters, id }: PlannedStrategy,
  delayedTrade = 0,
): Promise<LiveRecord> {
  if (bundle === null) throw new Error('a bundle is needed');
  const { definition, bindClock } = loadStrategy(bundle);
  const access = { url: served.url, token: SIM_TOKEN };
  const status = await readReplay(access);
  if (status === null) throw new Error('a replay is served');
  await deposit(access, WALLET.address, 0, plan.balance);
  const promises = watchPromises();
  try {
    return await new ReplayRun({
      definition,
      bindClock,
      bundle: bundle.sha256,
      parameters: parseParameters(definition.parameters, parameters),
      client: new DelayingClient(served.url, delayedTrade),
      account: WALLET.address.toLowerCase(),
      subaccountIndex: 0,
      symbols: null,
      seed: plan.seed,
      stop: new AbortController().signal,
      onLog: () => undefined,
      status,
      simToken: SIM_TOKEN,
      id,
      latency: plan.latency ?? 'none',
      promises,
      tradeFromUs: null,
      warmUpUs: null,
      sampleUs: plan.sampleUs ?? null,
      untilUs: Infinity,
      onProgress: () => undefined,
    }).complete();
  } finally {
    promises.stop();
  }
}
