/** Handlers that a strategy may have live: a server has no feed for the others. */
import {
  mustHandlers,
  StrategyError,
  type ParameterValues,
  type StrategyDefinition,
} from '../strategy/definition.ts';
import { misspeltTexts } from '../strategy/handler-names.ts';
import type { Strategy } from '../strategy/strategy.ts';

const REASONS: Readonly<Partial<Record<keyof Strategy, string>>> = {
  onData: 'rows of data are delivered in backtests only; read them from a service of your own',
  onLiquidation: 'the server sends liquidations without their account; compare positions',
  onAccount: 'the server has no feed of whole accounts; ask `client` for getStats',
};
const OF_REPLAY = 'the messages of a replay have no exact time of marks; use onBook';

/** Throws `StrategyError` for a handler that cannot be called, and warns of misspelt ones. */
export function mustRunLive(
  { name, keeps }: Pick<StrategyDefinition, 'name' | 'keeps'>,
  strategy: Strategy,
  clock: 'wall' | 'replay',
  warn: (what: string) => void = () => undefined,
): void {
  mustHandlers(strategy);
  for (const text of misspeltTexts(name, strategy)) warn(text);
  if (keeps?.equity === true) {
    throw new StrategyError(
      `${name}: equity() works in backtests only; live, ask \`client\` for getStats`,
    );
  }
  const reasons =
    clock === 'wall' ? REASONS : { ...REASONS, onMark: OF_REPLAY, onIndex: OF_REPLAY };
  for (const [handler, reason] of Object.entries(reasons)) {
    if (strategy[handler as keyof Strategy] === undefined) continue;
    throw new StrategyError(`${name}: ${handler} is not called live: ${reason}`);
  }
}

/** A strategy for a replay. */
export function createdLive(
  definition: StrategyDefinition,
  parameters: ParameterValues,
  onWarning: (text: string) => void = () => undefined,
): Strategy {
  const strategy = definition.create(parameters);
  mustRunLive(definition, strategy, 'replay', (what) => {
    onWarning(`WARNING: ${what}`);
  });
  return strategy;
}
