/**
 * Shrinks a difference between a host and its twin: repeats fewer and fewer commands, each time at
 * a new host, while the same difference remains.
 */
import type { ScriptStep } from '../shrink/script.ts';
import type { HostDivergence } from './divergence.ts';
import { repeat, upTo, type Recorded, type Repeated } from './replay.ts';
import type { Sides } from './side-by-side.ts';

/** A new host, with an exchange as the recorded one was at its start. */
export interface NewHost {
  readonly sides: Sides;
  readonly close: () => Promise<void>;
}

export interface ShrinkHostOptions {
  readonly open: () => Promise<NewHost>;
  readonly isOver: () => boolean;
  /** Called with each shorter result. */
  readonly onBest?: (best: ShrunkDivergence) => Promise<void>;
}

export interface ShrunkDivergence {
  readonly divergence: HostDivergence;
  /** Commands of the twin, as a journal. */
  readonly commands: Repeated['commands'];
  readonly tests: number;
  /** False: stopped early. */
  readonly complete: boolean;
  /** Whether no shorter one follows. */
  readonly isLast: boolean;
}

/** Steps that open accounts, and the last ones. */
const OPENING = 12;
const LAST = [0, 2, 8, 32, 128, 512];

/** Null if a new host does not show the difference, or not before it is over. */
export async function shrinkDivergence(
  recorded: Recorded,
  found: Pick<HostDivergence, 'violation' | 'difference'>,
  options: ShrinkHostOptions,
): Promise<ShrunkDivergence | null> {
  const shrinking = new Shrinking(natureOf(found), options);
  if (!(await shrinking.take(recorded))) return null;
  await shrinking.run();
  const shrunk = shrinking.result(!options.isOver(), true);
  await options.onBest?.(shrunk);
  return shrunk;
}

/** The endpoint or feed that differs, and the status of a host that has another one. */
function natureOf({
  violation,
  difference,
}: Pick<HostDivergence, 'violation' | 'difference'>): string {
  const { path, actual } = difference;
  const status = path === 'status' ? (actual.split(' ', 1)[0] ?? '') : '';
  return `${violation.invariant} ${status}`;
}

class Shrinking {
  private readonly nature: string;
  private readonly options: ShrinkHostOptions;
  private best: Recorded | null = null;
  private divergence: HostDivergence | null = null;
  private commands: Repeated['commands'] = [];
  private tests = 0;

  constructor(nature: string, options: ShrinkHostOptions) {
    this.nature = nature;
    this.options = options;
  }

  /** Keeps a candidate that shows the difference. */
  async take(candidate: Recorded): Promise<boolean> {
    const { options } = this;
    if (options.isOver()) return false;
    const host = await options.open();
    this.tests += 1;
    try {
      const repeated = await repeat(candidate, host.sides, options.isOver);
      const { divergence } = repeated;
      if (divergence === null || natureOf(divergence) !== this.nature) return false;
      this.best = upTo(candidate, repeated);
      this.divergence = divergence;
      this.commands = repeated.commands;
      await options.onBest?.(this.result(false));
      return true;
    } finally {
      await host.close();
    }
  }

  async run(): Promise<void> {
    await this.keepEnds();
    await this.dropGroups(({ command }) => command.kind);
    await this.dropGroups(({ command }) => ('subaccount' in command ? command.subaccount : null));
    await this.dropChunks();
  }

  result(complete: boolean, isLast = false): ShrunkDivergence {
    const { divergence, commands, tests } = this;
    if (divergence === null) throw new Error('nothing to shrink');
    return { divergence, commands, tests, complete, isLast };
  }

  private get steps(): readonly ScriptStep[] {
    return this.best?.script.steps ?? [];
  }

  private with(steps: readonly ScriptStep[]): Promise<boolean> {
    if (this.best === null || steps.length >= this.steps.length) return Promise.resolve(false);
    return this.take({ ...this.best, script: { ...this.best.script, steps } });
  }

  private async keepEnds(): Promise<void> {
    const { steps } = this;
    if (await this.with([])) return;
    for (const last of LAST) {
      if (OPENING + last >= steps.length) return;
      const end = steps.slice(steps.length - last);
      if (await this.with([...steps.slice(0, OPENING), ...end])) return;
    }
  }

  private async dropGroups(groupOf: (step: ScriptStep) => unknown): Promise<void> {
    for (const group of new Set(this.steps.map(groupOf))) {
      if (group !== null) await this.with(this.steps.filter((step) => groupOf(step) !== group));
    }
  }

  /** Removes chunks from the end to the start, down to single steps, until none can go. */
  private async dropChunks(): Promise<void> {
    for (let size = Math.max(1, this.steps.length >> 1); ;) {
      const before = this.steps.length;
      for (let end = before; end > 0; end = Math.min(end - size, this.steps.length)) {
        if (this.options.isOver()) return;
        const { steps } = this;
        await this.with([...steps.slice(0, Math.max(0, end - size)), ...steps.slice(end)]);
      }
      if (size === 1 && this.steps.length === before) return;
      size = Math.max(1, Math.min(size >> 1, this.steps.length >> 1));
      if (this.steps.length === 0) return;
    }
  }
}
