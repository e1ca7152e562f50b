/** Repeats recorded commands at a new host and its twin, then what showed their difference. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { Dice } from '../dice.ts';
import { Binder, toScript, type Script } from '../shrink/script.ts';
import type { HostDivergence, Probe } from './divergence.ts';
import { HostReads } from './host-reads.ts';
import { SideBySide, type Sides } from './side-by-side.ts';

/** Recorded commands, and what shows the difference after them. */
export interface Recorded {
  readonly script: Script;
  readonly probe: Probe;
  readonly timeMs: number;
}

export interface Repeated {
  readonly divergence: HostDivergence | null;
  /** Number of steps up to it. */
  readonly steps: number;
  /** Commands of the twin before its probe. */
  readonly commands: readonly Command[];
}

/** Listings are those of the host, and each step brings its time. */
export function recordOf(
  config: ExchangeConfig,
  commands: readonly Command[],
  { probe, timeMs }: Pick<HostDivergence, 'probe' | 'timeMs'>,
): Recorded {
  const script = toScript({ config, commands }, (own) => new Exchange(own));
  const steps = script.steps.filter(
    ({ command: { kind } }) => kind !== 'listMarket' && kind !== 'advanceTime',
  );
  return { script: { ...script, steps }, probe, timeMs };
}

/**
 * Some of the recorded steps may be gone; the others keep their meaning. `isOver` is polled before
 * each: true ends the repetition without a difference.
 */
export async function repeat(
  { script, probe, timeMs }: Recorded,
  sides: Sides,
  isOver: () => boolean = () => false,
): Promise<Repeated> {
  const both = new SideBySide(sides);
  const { twin } = both;
  const binder = new Binder(script, twin.engine);
  both.observe(binder.see);
  if (probe.kind === 'feeds') await both.compareFeeds(false);
  let steps = 0;
  for (const step of script.steps) {
    if (isOver()) return { divergence: null, steps, commands: [] };
    await both.deliver(binder.bind(step));
    if (both.divergence !== null) break;
    steps += 1;
  }
  if (both.divergence === null) {
    await both.advance(timeMs);
    await show(probe, both, sides);
  }
  const { divergence } = both;
  const commands = twin.commands.slice(0, divergence?.commands ?? twin.commands.length);
  return { divergence, steps, commands };
}

async function show(probe: Probe, both: SideBySide, sides: Sides): Promise<void> {
  if (both.divergence !== null || probe.kind === 'command') return;
  if (probe.kind === 'feeds') return both.compareFeeds(true);
  if (probe.kind === 'sim') return both.compareControl(probe.verb, probe.fields);
  const { endpoint, request, account, page } = probe;
  if (page === 0) return both.compareCall(endpoint, request, account);
  const { host, users } = sides;
  const { twin } = both;
  const reads = new HostReads({ host, twin, users, symbols: [], dice: Dice.of('', 'reads') });
  return both.compareReads(reads, [{ endpoint, request, caller: account, pages: page + 1 }]);
}

/** The steps up to a difference, and what shows it now. */
export function upTo(recorded: Recorded, { divergence, steps }: Repeated): Recorded {
  if (divergence === null) throw new Error('host and twin reply alike');
  const { probe, timeMs } = divergence;
  const { script } = recorded;
  // The reply of a command shows the difference: the command is the last step.
  const end = probe.kind === 'command' ? steps + 1 : steps;
  return { script: { ...script, steps: script.steps.slice(0, end) }, probe, timeMs };
}
