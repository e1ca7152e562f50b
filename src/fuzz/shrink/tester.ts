/** Tests whether a script still fails in the same way. */
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import { sinkOf, type Checker, type Violation } from '../checker.ts';
import { applyChecked, endChecked } from '../fuzz-run.ts';
import { isThrown } from '../thrown.ts';
import { Binder, type Script } from './script.ts';

export interface TestOptions {
  readonly createEngine: (config: ExchangeConfig) => Engine;
  /** Creates a checker for one execution of that many commands. */
  readonly createChecker: (commands: number, config: ExchangeConfig) => Checker;
  /** Polled before each command; true ends the shrinking with the current result. */
  readonly cancelled?: () => boolean;
}

/** A failed execution. */
interface Ran {
  readonly at: number;
  readonly violation: Violation;
}

export class Tester {
  /** The failure that every script must reproduce. */
  readonly violation: Violation;
  tests = 0;
  private readonly options: TestOptions;
  /** Violations of the scripts that failed. */
  private readonly seen = new WeakMap<Script, Violation>();

  constructor(violation: Violation, options: TestOptions) {
    this.violation = violation;
    this.options = options;
  }

  get cancelled(): boolean {
    return this.options.cancelled?.() ?? false;
  }

  newEngine(config: ExchangeConfig): Engine {
    return this.options.createEngine(config);
  }

  /** The script up to the step that fails in the same way; null if none does. */
  failing(script: Script): Script | null {
    const ran = this.run(script);
    return ran === null ? null : this.upTo(script, ran);
  }

  /** The script up to its violation, which is kept with it. */
  upTo(script: Script, { at, violation }: Ran): Script {
    const failing =
      at === script.steps.length ? script : { ...script, steps: script.steps.slice(0, at) };
    this.seen.set(failing, violation);
    return failing;
  }

  /** The violation of a script that failed here. */
  violationOf(script: Script): Violation {
    return this.seen.get(script) ?? this.violation;
  }

  /** Number of steps until the failure, and its violation; null if it is cancelled before. */
  run(script: Script): Ran | null {
    const ran = this.runAny(script, () => this.cancelled);
    return ran !== null && this.isSame(ran.violation) ? ran : null;
  }

  /** The same for the first violation, whatever it is. */
  runAny(script: Script, stops: () => boolean = () => false): Ran | null {
    this.tests += 1;
    const { createEngine, createChecker } = this.options;
    const { steps, config } = script;
    const engine = createEngine(config);
    const binder = new Binder(script, engine);
    const checker = createChecker(steps.length, config);
    const emit = sinkOf([binder.see, ...(checker.onEvent === undefined ? [] : [checker.onEvent])]);
    let at = 0;
    for (const step of steps) {
      if (stops()) return null;
      at += 1;
      const { violation } = applyChecked(engine, binder.bind(step), emit, checker);
      if (violation !== null) return { at, violation };
    }
    const violation = endChecked(engine, checker);
    return violation === null ? null : { at, violation };
  }

  private isSame({ invariant, detail }: Violation): boolean {
    if (invariant !== this.violation.invariant) return false;
    // The text of an assertion or crash identifies it.
    return !isThrown(this.violation) || detail === this.violation.detail;
  }
}
