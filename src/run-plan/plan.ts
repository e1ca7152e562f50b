/** Executes a plan: opens its data and strategies, runs them, and measures. */
import { barLengths } from '../strategy/bars.ts';
import {
  mustDefinition,
  mustHandlers,
  parseParameters,
  StrategyError,
  type StrategyDefinition,
} from '../strategy/definition.ts';
import type { BacktestCheckpoint, BacktestOutput } from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { runBacktest, type BacktestInput } from '../backtest/run-backtest.ts';
import { stylisedFacts, type StylisedFacts } from '../backtest/stylised-facts.ts';
import type { DataUpdate, Strategy } from '../strategy/strategy.ts';
import { StrategyFault } from '../strategy/strategy-fault.ts';
import type { BarsEmitted } from '../backtest/strategy-feeds.ts';
import type { StrategyEntry } from '../backtest/strategy-run.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import { money } from '../gateway/encode.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/exchange-config.ts';
import { parseMarketSpec } from '../gateway/market-config.ts';
import { durationUs, timeUs, type TimeUs } from '../num/units.ts';
import { FaultModel } from '../virtual-time/faults.ts';
import { slowedLatency } from '../virtual-time/latency.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { addressOfName, keccak } from '../wallet/crypto-ports.ts';
import { withPlace } from '../strategy-loader/fault-place.ts';
import { readLatencyRows } from './latency-rows.ts';
import {
  DEFAULT_LATENCY,
  faultOfTerms,
  parseFaults,
  parseFees,
  parseMargin,
  parseImpact,
  parseLatency,
  parseQueue,
} from './models.ts';
import { loadStrategy } from '../strategy-loader/sandbox.ts';
import { agentEntries, openPopulation } from './agent-runs.ts';
import { parseTapeModel } from '../tape/tape-model.ts';
import { watchPromises } from '../strategy-loader/promise-watch.ts';
import { exchangeTerms, strategyTerms, type RunTerms } from './run-terms.ts';
import { feedNotes, readFeeds } from './data-feeds.ts';
import {
  assumptionsOf,
  DEFAULTS,
  misspeltNotes,
  unusedNotes,
  unansweredNotes,
} from './assumptions.ts';
import { mustHold, parseBalance } from './balance.ts';
import { playedAs } from './played-as.ts';
import { mustLeaveTime, shortWarmUp } from './warm-up.ts';
import { sampleUsOf } from './sample-interval.ts';
import { spanError } from './span-error.ts';
import type { TapeMemory } from './tape-memory.ts';
import type { PlannedStrategy, RunPlan } from './run-plan.ts';
import { openTape, type SourceMarket, type TapeSource } from './tape-source.ts';

export interface PlanPorts {
  /** Strategies without a bundle, by id. */
  readonly definitions?: ReadonlyMap<string, StrategyDefinition>;
  readonly onProgress?: (fraction: number) => void;
  readonly onDecision?: BacktestInput['onDecision'];
  /** Changes the recording before it is played. */
  readonly tape?: (batches: BacktestInput['tape']) => BacktestInput['tape'];
  /** Changes the rows of the feeds before they are delivered. */
  readonly data?: (rows: readonly DataUpdate[]) => readonly DataUpdate[];
  /** Keeps recordings for later runs; without it each run reads its files. */
  readonly tapes?: TapeMemory;
  readonly cancelled?: () => boolean;
  readonly hurried?: () => boolean;
  readonly journal?: BacktestInput['journal'];
  readonly resume?: BacktestCheckpoint | null;
}

export interface PlanResult {
  readonly output: BacktestOutput;
  /** Assumptions, shown on the first page of a report. */
  readonly assumptions: readonly Note[];
  readonly data: readonly Note[];
  /** Stylised facts of an endogenous market. */
  readonly stylisedFacts: readonly StylisedFacts[];
  /** Terms of each strategy's run, in their order. */
  readonly terms: readonly RunTerms[];
}

/**
 * Throws `StrategyError`, `TapeError` or `FileError` for faults of the plan, and errors thrown by a
 * strategy.
 */
export async function executePlan(plan: RunPlan, ports: PlanPorts = {}): Promise<PlanResult> {
  if (plan.strategies.length === 0 && plan.population === undefined) {
    throw new StrategyError('a run needs a strategy, or agents');
  }
  const loaded = plan.strategies.map((planned) => load(planned, ports.definitions));
  const warmUpUs = plan.warmUpUs ?? Math.max(0, ...loaded.map(({ warmUpUs: own }) => own));
  const startUs = plan.fromUs === undefined ? null : plan.fromUs - warmUpUs;
  const streams = new RandomStreams(plan.seed, ports.resume?.random);
  const markets = await openMarkets(plan, startUs);
  const { tape, genesisUs, specs, config, barsEmitted, sampleUs } = markets;
  const faults = plan.faults === undefined ? null : parseFaults(plan.faults);
  const latencies = loaded.map(({ planned }) => {
    const model = parseLatency(plan.latency ?? DEFAULT_LATENCY, {
      random: streams.stream(`latency ${planned.id}`),
      rows: readLatencyRows,
      minRecordedUs: tape.minRecordedUs,
    });
    return plan.latencyTimes === undefined ? model : slowedLatency(model, plan.latencyTimes);
  });
  const strategies = loaded.map(
    ({ planned, definition, parameters, bindClock }, i): StrategyEntry => {
      const latency = latencies[i];
      if (latency === undefined) throw new StrategyError('a strategy has its latency');
      return {
        id: planned.id,
        name: definition.name,
        parameters,
        strategy: created(plan, planned.id, genesisUs, () => definition.create(parameters)),
        account: addressOfName(planned.id),
        subaccountIndex: 0,
        deposit: parseBalance(plan.balance),
        latency,
        faults:
          faults === null
            ? null
            : new FaultModel(faults, streams.stream(`faults ${planned.id}`), genesisUs),
        symbols: symbolsOf(planned, tape.markets),
        barsUs: barLengths(definition, parameters),
        bookDepth: definition.bookDepth ?? 1,
        ...(definition.keeps === undefined ? {} : { keeps: definition.keeps }),
        reports: true,
        ...(bindClock === null ? {} : { bindClock }),
      };
    },
  );
  const { feeds = [] } = plan;
  const rows = await readFeeds(feeds);
  const tradeFromUs = Math.max(genesisUs, plan.fromUs ?? genesisUs + warmUpUs);
  if (plan.population === undefined)
    mustLeaveTime({ genesisUs, tradeFromUs, endUs: markets.endUs });
  const warmUp = { wantedUs: warmUpUs, receivedUs: tradeFromUs - genesisUs };
  const agents =
    plan.population === undefined ? [] : agentEntries(plan.population, streams, DEFAULT_LATENCY);
  for (const { id } of agents) {
    // They would draw from one random stream.
    if (strategies.some((strategy) => strategy.id === id)) {
      throw new StrategyError(`strategy '${id}': an agent has this name; give it another one`);
    }
  }
  mustHold([...strategies, ...agents].map(({ deposit }) => deposit));
  const batches =
    ports.tapes === undefined || plan.population !== undefined
      ? tape.batches
      : ports.tapes.batches(recordingKey(plan, startUs), tape.batches);
  const promises = watchPromises();
  const output = await runBacktest({
    config,
    markets: specs,
    strategies: [...strategies, ...agents],
    tape: ports.tape?.(batches) ?? batches,
    streams,
    seed: plan.seed,
    keccak,
    promises,
    barsEmitted,
    data: ports.data?.(rows) ?? rows,
    sampleUs,
    tradeFromUs,
    journal: ports.journal ?? 'none',
    onProgress: () => ports.onProgress?.(tape.progress()),
    ...(ports.onDecision === undefined ? {} : { onDecision: ports.onDecision }),
    ...(ports.cancelled === undefined ? {} : { cancelled: ports.cancelled }),
    ...(ports.hurried === undefined ? {} : { hurried: ports.hurried }),
    resume: ports.resume ?? null,
  })
    .catch((error: unknown) => {
      throw withPlace(error, plan.strategies);
    })
    .finally(() => {
      promises.stop();
    });
  const [lost] = promises.lost?.() ?? [];
  if (lost !== undefined) throw lost as Error;
  const facts = plan.population === undefined ? [] : output.markets.map(stylisedFacts);
  return {
    output,
    terms: strategies.map((entry, i) => ({
      ...exchangeTerms(markets),
      ...strategyTerms({
        strategy: entry.name,
        bundle: plan.strategies[i]?.bundle?.sha256 ?? null,
        parameters: entry.parameters,
        symbols: entry.symbols ?? specs.map(({ symbol }) => symbol),
        seed: plan.seed,
        id: entry.id,
        latency: entry.latency.words,
        faults: plan.faults ?? 'none',
        feeds: feeds.map(({ name, sha256 }) => `${name} ${sha256}`).join(', '),
        balance: money(entry.deposit),
        ordersBefore: 0,
        startUs: genesisUs,
        tradeFromUs,
        sampleUs,
        traders: strategies.length + agents.length,
      }),
    })),
    stylisedFacts: facts,
    assumptions: assumptionsOf(plan, {
      latency: latencies[0]?.words ?? null,
      strategies,
      parameters: loaded.map(({ definition }) => definition.parameters),
      warmUp,
      markets: tape.markets,
      specs,
    }),
    data: [
      ...unansweredNotes(output),
      ...shortWarmUp(warmUp),
      ...misspeltNotes(strategies),
      ...unusedNotes(plan, tape.markets),
      ...tape.notes(output),
      ...feedNotes(feeds, rows, genesisUs, output.deliveredUs),
    ],
  };
}

/** Plans with equal keys play equal commands. */
function recordingKey({ data, markets, toUs, bars, fidelity }: RunPlan, startUs: number | null) {
  return JSON.stringify([data, markets, startUs, toUs, bars, fidelity]);
}

/** The exchange of a run and the recording that it plays. Times are µs. */
export interface RunMarkets {
  readonly tape: TapeSource;
  readonly playedAs: RunTerms;
  readonly beginUs: number;
  readonly endUs: number;
  readonly genesisUs: TimeUs;
  readonly specs: readonly MarketSpec[];
  readonly config: ExchangeConfig;
  readonly barsEmitted: BarsEmitted;
  readonly sampleUs: number;
}

/** `startUs`: first time to read; null: that of the data. Rejects as `executePlan`. */
export async function openMarkets(plan: RunPlan, startUs: number | null): Promise<RunMarkets> {
  const tape = await openSource(plan, startUs);
  const beginUs = Math.max(startUs ?? -Infinity, tape.firstUs);
  const endUs = Math.min(plan.toUs ?? Infinity, tape.lastUs);
  if (beginUs >= endUs) throw spanError(plan.data ?? 'the population', tape);
  const genesisUs = timeUs(Math.floor(beginUs / 1e6) * 1e6);
  return {
    tape,
    playedAs: playedAs(plan, tape),
    beginUs,
    endUs,
    genesisUs,
    specs: tape.markets.map((units) => specOf(plan, units)),
    config: configOf(genesisUs, tape),
    barsEmitted: parseTapeModel(plan.bars ?? '').quote === 'nextOpen' ? 'nextOpen' : 'over',
    sampleUs: plan.sampleUs ?? sampleUsOf(endUs - beginUs),
  };
}

/**
 * Default configuration, with a longer stale limit for sparse recorded marks, so that they do not
 * freeze their market (R-5.3b).
 */
function configOf(genesisTimeUs: TimeUs, { minStaleUs }: TapeSource): ExchangeConfig {
  const { indexStaleUs } = DEFAULT_EXCHANGE_CONFIG;
  return {
    ...DEFAULT_EXCHANGE_CONFIG,
    genesisTimeUs,
    indexStaleUs: durationUs(Math.max(indexStaleUs, minStaleUs)),
  };
}

/** Calls a strategy's factory, which may reject its parameters. */
function created(plan: RunPlan, id: string, timeUs: number, create: () => Strategy): Strategy {
  try {
    return mustHandlers(create());
  } catch (error) {
    throw withPlace(new StrategyFault(id, { error, handler: 'create', timeUs }), plan.strategies);
  }
}

function openSource(plan: RunPlan, fromUs: number | null): TapeSource | Promise<TapeSource> {
  const { population, data, markets = null, toUs = null, fidelity } = plan;
  if (population !== undefined) {
    // A resumed run restarts its tape and skips what was played, so saved state excludes these
    // draws.
    return openPopulation(population, new RandomStreams(plan.seed).stream('fundamental'));
  }
  if (data === undefined) throw new StrategyError('a run needs data, or agents');
  return openTape(data, markets, { fromUs, toUs }, parseTapeModel(plan.bars ?? ''), fidelity);
}

interface Loaded {
  readonly planned: PlannedStrategy;
  readonly definition: StrategyDefinition;
  readonly parameters: ReturnType<typeof parseParameters>;
  /** null for an object, whose globals are those of the process. */
  readonly bindClock: NonNullable<StrategyEntry['bindClock']> | null;
  readonly warmUpUs: number;
}

function load(planned: PlannedStrategy, definitions: PlanPorts['definitions']): Loaded {
  const { definition, bindClock } = loaded(planned, definitions);
  const parameters = parseParameters(definition.parameters, planned.parameters);
  return {
    planned,
    definition,
    bindClock,
    parameters,
    warmUpUs: definition.warmUpUs?.(parameters) ?? 0,
  };
}

function loaded(
  { id, bundle }: PlannedStrategy,
  definitions: PlanPorts['definitions'],
): Pick<Loaded, 'definition' | 'bindClock'> {
  if (bundle !== null) return loadStrategy(bundle);
  return { definition: mustDefinition(definitions?.get(id), id), bindClock: null };
}

function symbolsOf(
  { id, symbols }: PlannedStrategy,
  markets: readonly SourceMarket[],
): readonly string[] | null {
  for (const symbol of symbols ?? []) {
    if (!markets.some((market) => market.symbol === symbol)) {
      throw new StrategyError(
        `strategy '${id}': no market ${symbol} in the data; there are ${markets.map((market) => market.symbol).join(', ')}`,
      );
    }
  }
  return symbols ?? null;
}

function specOf(plan: RunPlan, market: SourceMarket): MarketSpec {
  const spec = parseMarketSpec(
    {
      symbol: market.symbol,
      tickSize: market.tickSize,
      lotSize: market.lotSize,
      ...parseMargin(plan.margin ?? DEFAULTS.margin),
      ...parseFees(plan.fees ?? DEFAULTS.fees, plan.feesTimes),
      queueModel: parseQueue(plan.queue ?? DEFAULTS.queue, market),
      ...parseImpact(plan.impact ?? DEFAULTS.impact, market),
      ...market.terms,
    },
    keccak,
  );
  if (!spec.ok) throw new StrategyError(faultOfTerms(spec.error, plan, market));
  return spec.value;
}
