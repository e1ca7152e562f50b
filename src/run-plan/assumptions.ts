/** Notes of the report: assumptions of the run, and requests that its end left open. */
import { countText } from '../base/count-text.ts';
import type { Note } from '../backtest/note.ts';
import type { BacktestOutput } from '../backtest/output.ts';
import type { StrategyEntry } from '../backtest/strategy-run.ts';
import type { MarketSpec } from '../engine/config.ts';
import type { ParameterSpecs, ParameterValues } from '../strategy/definition.ts';
import { misspeltTexts } from '../strategy/handler-names.ts';
import type { Fidelity } from '../tape/tape-model.ts';
import { DEFAULT_QUEUE } from './models.ts';
import type { RunPlan } from './run-plan.ts';
import type { SourceMarket } from './tape-source.ts';
import { warmUpNote, type WarmUp } from './warm-up.ts';

export const DEFAULTS = {
  queue: DEFAULT_QUEUE,
  impact: 'permanent',
  fees: '0.0001,0.00035',
  margin: '0.02,0.01',
};

const QUEUE_TEXTS: Readonly<Record<string, string>> = {
  none: 'Bars have no queue: fill=touch or fill=through of --bars states which prices fill a resting order.',
  fifo: 'Each historical order has its own place in the queue, so the queue position of an order is exact.',
  riskAverse:
    'A decrease without a trade comes from behind the order, while there is volume behind it.',
  probPower1:
    'A decrease without a trade comes from behind the order with probability b/(a+b), a and b the volume ahead and behind.',
  probPower2:
    'A decrease without a trade comes from behind the order with probability b²/(a²+b²), a and b the volume ahead and behind.',
  probPower3:
    'A decrease without a trade comes from behind the order with probability b³/(a³+b³), a and b the volume ahead and behind.',
  probLog:
    'A decrease without a trade comes from behind the order with probability ln(1+y)/(ln(1+x)+ln(1+y)), x and y the shares ahead and behind.',
};

const IMPACT_TEXTS: Readonly<Record<string, string>> = {
  none: 'Liquidity taken by the strategy returns to the book at the level’s next update, but fills no resting order again. Other traders do not react.',
  permanent:
    'Liquidity taken by the strategy is gone until history brings new volume. Other traders do not react.',
  halving:
    'Half of the liquidity taken by the strategy returns to the book in each half-life, but fills no resting order again. Other traders do not react.',
  squareRoot:
    'Liquidity taken by the strategy is gone until history brings new volume. Levels nearer to the best price than √(own volume × Σ move² ÷ Σ volume of the last 60 recorded minutes) are hidden. Own volume halves in the time given.',
};

/** Fidelities that a model is for. */
const USED_BY: Readonly<Record<'queue' | 'bars', readonly Fidelity[]>> = {
  queue: ['l2', 'trades'],
  bars: ['bars', 'trades'],
};

interface RunFacts {
  /** Null if the run has agents only. */
  readonly latency: string | null;
  readonly strategies: readonly StrategyEntry[];
  /** Parameters of each strategy. */
  readonly parameters: readonly ParameterSpecs[];
  readonly warmUp: WarmUp;
  readonly markets: readonly SourceMarket[];
  readonly specs: readonly MarketSpec[];
}

/** Notes of the report about what the run assumes. */
export function assumptionsOf(plan: RunPlan, facts: RunFacts): Note[] {
  const { latency, strategies, warmUp, markets, specs } = facts;
  const { impact = DEFAULTS.impact } = plan;
  const playedAs = (only: Fidelity): boolean => markets.every(({ fidelity }) => fidelity === only);
  const model = playedAs('bars') ? 'none' : (plan.queue ?? DEFAULTS.queue);
  const queue = playedAs('l3') ? 'fifo' : model;
  const percent = (ppm: number): string => `${String(ppm / 1e4)} %`;
  const terms = new Set(
    specs.map(({ makerFeePpm, takerFeePpm, tiers: [first] }) => {
      const margin = `initial margin ${percent(first?.initialMarginPpm ?? 0)}, maintenance ${percent(first?.maintenanceMarginPpm ?? 0)}`;
      return `Maker ${percent(makerFeePpm)}, taker ${percent(takerFeePpm)}; ${margin}.`;
    }),
  );
  const starts = strategies.length === 0 ? '' : ` Each account starts with ${plan.balance}.`;
  const isHistory = plan.population === undefined;
  return [
    ...markets.map(({ note }) => note),
    ...(isHistory
      ? [
          {
            title: `Queue position: ${queue}`,
            text:
              (QUEUE_TEXTS[queue] ?? '') +
              (queue === 'none' ? '' : ' Trades fill orders in time priority.'),
          },
          { title: `Impact: ${impact}`, text: IMPACT_TEXTS[impact.split(':')[0] ?? ''] ?? '' },
        ]
      : []),
    ...(latency === null ? [] : [{ title: 'Latency', text: `${latency}.` }]),
    { title: 'Fees and margin', text: `${[...terms].join(' ')}${starts}` },
    ...(plan.journal === false
      ? [
          {
            title: 'No journal',
            text: 'The run kept no journal (--no-journal), so it cannot be verified or explained.',
          },
        ]
      : []),
    ...(plan.faults === undefined
      ? []
      : [{ title: 'Injected faults', text: `${strategies[0]?.faults?.words ?? 'none'}.` }]),
    ...warmUpNote(warmUp),
    ...strategies.map(({ id, name, parameters }, i) => ({
      title: `Parameters of ${id}`,
      text: `${name}: ${parametersText(parameters, facts.parameters[i] ?? {})}; ${bundleText(plan, id)}.`,
    })),
  ];
}

function parametersText(values: ParameterValues, specs: ParameterSpecs): string {
  const texts = Object.entries(values).map(([name, value]) => {
    const describe = specs[name]?.describe;
    return `${name} ${String(value)}${describe === undefined ? '' : ` (${describe})`}`;
  });
  return texts.length === 0 ? 'no parameters' : texts.join(', ');
}

function bundleText({ strategies }: RunPlan, id: string): string {
  const bundle = strategies.find((planned) => planned.id === id)?.bundle;
  return bundle == null ? 'an object of the calling program' : `bundle ${bundle.sha256}`;
}

/** Models that were given for data of another kind. */
export function unusedNotes(plan: RunPlan, markets: readonly SourceMarket[]): Note[] {
  if (plan.population !== undefined) return [];
  const unused = (['queue', 'bars'] as const).filter((name) => {
    const isUsed = ({ fidelity }: SourceMarket): boolean =>
      fidelity !== null && USED_BY[name].includes(fidelity);
    const isUsual = [undefined, '', 'fifo', DEFAULTS.queue].includes(plan[name]);
    return !isUsual && !markets.some(isUsed);
  });
  const played = [...new Set(markets.map(({ fidelity }) => fidelity))].join(' and ');
  return unused.map((name) => ({
    title: `Unused: --${name}`,
    text: `--${name} ${String(plan[name])} is not used: the data are played as ${played}, and it is for ${USED_BY[name].join(' and ')}.`,
    isWarning: true,
  }));
}

/** Methods that are probably meant as a handler: type checks do not see those of JavaScript. */
export function misspeltNotes(strategies: readonly StrategyEntry[]): Note[] {
  return strategies.flatMap(({ id, strategy }) =>
    misspeltTexts(id, strategy).map((text) => ({
      title: `Handlers of ${id}`,
      text,
      isWarning: true as const,
    })),
  );
}

/** Requests without an answer when the run ended. */
export function unansweredNotes({ unanswered, cancelled }: BacktestOutput): Note[] {
  if (cancelled) return [];
  return unanswered.map(({ id, onTheWay, arrived }) => ({
    title: `Requests in flight of ${id}`,
    text: `The run ended 60 s after its data. ${countText(onTheWay, 'request')} had not arrived at the exchange by then and had no effect, and ${countText(arrived, 'answer')} had not arrived at the strategy.`,
    isWarning: true,
  }));
}
