/**
 * Prepares a population for a run: its market, the fundamental value as the tape, its agents as
 * strategies without a report.
 */
import { must } from '../base/assert.ts';
import { parseParameters } from '../strategy/definition.ts';
import type { StrategyEntry } from '../backtest/strategy-run.ts';
import { parseDecimal, stepsFloor } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, quanta } from '../num/units.ts';
import type { RandomStream, RandomStreams } from '../virtual-time/rng.ts';
import { addressOfName } from '../wallet/crypto-ports.ts';
import { fundamentalTape } from './fundamental-tape.ts';
import { readLatencyRows } from './latency-rows.ts';
import { parseLatency } from './models.ts';
import { agentOf, type Population } from './population.ts';
import type { TapeSource } from './tape-source.ts';

export type { Population };

export function openPopulation(population: Population, random: RandomStream): TapeSource {
  const { market, startUs, durationUs, fundamental, agents } = population;
  const { symbol, tickSize, lotSize, ...terms } = market;
  let readUs = startUs;
  const groups = agents.map(({ kind, count }) => `${String(count)} ${kind}`).join(', ');
  const worth =
    fundamental.kind === 'recorded'
      ? `the trades of ${fundamental.data ?? ''}`
      : `an Ornstein–Uhlenbeck process from ${String(fundamental.start)} about ${String(fundamental.mean)}, ${String(fundamental.deviation * 1e4)} bp a step`;
  return {
    markets: [
      {
        symbol,
        tickSize,
        lotSize,
        fidelity: null,
        hasTrades: false,
        terms: { indexSource: 'oracle', ...terms },
        note: {
          title: `Index of ${symbol}: the fundamental value`,
          text: `The index is ${worth}, every ${String(fundamental.everyUs / 1e6)} s. Mark and funding follow from index and book.`,
        },
      },
    ],
    sha256: null,
    firstUs: startUs,
    lastUs: startUs + durationUs,
    minRecordedUs: 0,
    minStaleUs: 2 * fundamental.everyUs,
    batches: fundamentalTape(population, random, (atUs) => {
      readUs = atUs;
    }),
    progress: () => (readUs - startUs) / durationUs,
    notes: () => [
      {
        title: 'An endogenous market',
        text: `No history: every order is from an agent or a strategy. Agents: ${groups}.`,
      },
    ],
  };
}

export function agentEntries(
  population: Population,
  streams: RandomStreams,
  defaultLatency: string,
): StrategyEntry[] {
  return population.agents.flatMap((group, g) => {
    const definition = agentOf(group.kind);
    const parameters = parseParameters(definition.parameters, group.parameters);
    const balance = must(parseDecimal(group.balance) ?? undefined, 'a balance is decimal text');
    const deposit = quanta(stepsFloor(balance, { digits: 1n, scale: COLLATERAL_DECIMALS }));
    return Array.from({ length: group.count }, (_each, i): StrategyEntry => {
      const id = `${group.kind}-${String(g)}-${String(i)}`;
      return {
        id,
        name: definition.name,
        parameters,
        strategy: definition.create(parameters),
        account: addressOfName(`agent ${id}`),
        subaccountIndex: 0,
        deposit,
        latency: parseLatency(group.latency ?? defaultLatency, {
          random: streams.stream(`latency ${id}`),
          rows: readLatencyRows,
          minRecordedUs: 0,
        }),
        faults: null,
        symbols: null,
        barsUs: [],
        bookDepth: 1,
        reports: false,
      };
    });
  });
}
