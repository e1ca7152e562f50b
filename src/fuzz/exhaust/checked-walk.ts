/**
 * A walk over edges with every check: the oracle, the invariants of the state and of the events,
 * and an exchange restored from a snapshot. Exchange, oracle and invariants return to a checkpoint
 * after each edge, so an edge costs one command and not its whole path.
 */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { outcomeCode, type Outcome } from '../../engine/refusals.ts';
import type { Engine } from '../../engine/read/views.ts';
import { Oracle } from '../../oracle/oracle.ts';
import type { Checker, Violation } from '../checker.ts';
import { Coverage } from '../coverage.ts';
import { applyChecked } from '../fuzz-run.ts';
import { divergenceViolation } from '../oracle-checker.ts';
import { firstFound, newStreamInvariants } from '../stream-checker.ts';
import { ExploredExchange } from './explored-exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { openingOf } from './preparations.ts';
import { CONFIG } from './setting.ts';
import { KEY_WORDS, sameWords, StateKey } from './state-key.ts';
import { Walk } from './walk.ts';
import { operationsOf, type WorldName } from './worlds.ts';

/** All checks of one edge. Its state is in fields only, so that a checkpoint covers it. */
class EdgeChecker implements Checker {
  readonly coverage = new Coverage();
  private readonly oracle = new Oracle(CONFIG);
  private readonly invariants = newStreamInvariants();
  private emitted: EngineEvent[] = [];

  readonly onEvent = (event: EngineEvent): void => {
    this.emitted.push(event);
    this.coverage.onEvent(event);
    for (const invariant of this.invariants) invariant.see(event);
  };

  after(engine: Engine, command: Command, outcome: Outcome): Violation | null {
    const { emitted, oracle, invariants } = this;
    this.emitted = [];
    this.coverage.after(engine, command, outcome);
    for (const invariant of invariants) invariant.settle(engine, command);
    for (const invariant of invariants) invariant.compare(engine);
    const inStream = firstFound(invariants);
    if (inStream !== null) return inStream;
    const inState = engine.checkInvariants()[0];
    if (inState !== undefined) return inState;
    const expected = oracle.apply(command);
    const code = outcomeCode(outcome);
    if (expected !== code) {
      const what = `the outcome of ${command.kind}`;
      return divergenceViolation({
        seq: oracle.seq,
        what,
        oracle: expected,
        engine: code,
        rule: 'R-2.8',
      });
    }
    const found = oracle.compare(engine, emitted, true);
    return found === null ? null : divergenceViolation(found);
  }
}

export interface PathFailure {
  readonly length: number;
  readonly violation: Violation;
}

/** Result of one edge: its outcome, or null where the operation does not apply. */
export interface CheckedEdge {
  readonly code: string | null;
  readonly violation: Violation | null;
}

export class CheckedWalk {
  readonly exchange = new ExploredExchange(CONFIG);
  private readonly checker = new EdgeChecker();
  private readonly archive = new StateKey();
  private readonly walk: Walk;
  /** The first violation on the way to a state, and the number of operations up to it. */
  private failed: PathFailure | null = null;
  private steps = 0;

  constructor(world: WorldName, operations: readonly OperationName[] = operationsOf(world)) {
    const { exchange, checker } = this;
    for (const command of openingOf(world)) {
      const { violation } = this.step(command);
      if (violation !== null) this.failed ??= { length: 0, violation };
    }
    this.walk = new Walk([exchange, checker], (i) => {
      const { violation } = this.enter(must(operations[i], 'a path has known operations'));
      this.steps += 1;
      if (violation !== null) this.failed ??= { length: this.steps, violation };
    });
  }

  /** Names of the coverage states that the walk has reached on its current path. */
  coverage(): readonly string[] {
    return Object.keys(this.checker.coverage.counts());
  }

  /** Goes to the state at the end of the path, and checks the edges on the way. */
  moveTo(path: Uint8Array): PathFailure | null {
    this.steps = path.length - this.walk.missing(path);
    this.walk.moveTo(path);
    return this.failed;
  }

  /** Whether the operation is refused and yet changes the state; `leave` returns to it. */
  refusedChanges(name: OperationName): boolean {
    const { exchange, archive } = this;
    const before = new Int32Array(KEY_WORDS);
    const after = new Int32Array(KEY_WORDS);
    exchange.key(archive, before);
    const command = OPERATIONS[name](exchange);
    if (command === null || exchange.apply(command) === 'ok') return false;
    exchange.key(archive, after);
    return !sameWords(before, after);
  }

  /** Applies the operation and checks it; `leave` returns to the state before. */
  enter(name: OperationName): CheckedEdge {
    const command = OPERATIONS[name](this.exchange);
    if (command === null) return { code: null, violation: null };
    return this.step(command);
  }

  leave(): void {
    this.walk.back();
  }

  /** Applies the operation to an exchange restored from a snapshot, and compares the two. */
  enterRestored(name: OperationName): Violation | null {
    const command = OPERATIONS[name](this.exchange);
    if (command === null) return null;
    const restored = Exchange.restore(this.exchange.snapshot());
    const expected = outcomeCode(restored.apply(command));
    const code = outcomeCode(this.exchange.apply(command));
    const same =
      code === expected &&
      restored.chainHash() === this.exchange.chainHash() &&
      restored.stateHash() === this.exchange.stateHash();
    if (same) return null;
    return {
      invariant: 'restored',
      rule: 'docs/DETERMINISM.md',
      says: 'an exchange restored from a snapshot continues like the original',
      detail: `${command.kind}: ${code} and ${expected}, or events or states that differ`,
    };
  }

  private step(command: Command): CheckedEdge {
    const { exchange, checker } = this;
    const { outcome, violation } = applyChecked(exchange, command, checker.onEvent, checker);
    return { code: outcomeCode(outcome), violation };
  }
}
