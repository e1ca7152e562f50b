/**
 * Compares two paths to states of equal key: SHA-256 of the states, then outcome, hash of the
 * events and key of every operation after them. A difference means that the future depends on
 * something that the key omits, so merging the two would be unsound.
 */
import { outcomeCode } from '../../engine/refusals.ts';
import type { Violation } from '../checker.ts';
import type { ExploredExchange } from './explored-exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { KEY_WORDS, type StateKey } from './state-key.ts';
import type { Walk } from './walk.ts';

export interface Compared {
  readonly walk: Walk;
  readonly exchange: ExploredExchange;
  readonly archive: StateKey;
  readonly operations: readonly OperationName[];
}

/** The first difference of the two states or of their continuations; null if there is none. */
export function comparePaths(
  compared: Compared,
  one: readonly number[],
  other: readonly number[],
): Violation | null {
  const left = futureOf(compared, one);
  const right = futureOf(compared, other);
  for (const [i, text] of left.entries()) {
    if (text === right[i]) continue;
    const where = i === 0 ? 'the state' : `the continuation ${String(compared.operations[i - 1])}`;
    return {
      invariant: 'mergedStates',
      rule: 'docs/DETERMINISM.md',
      says: 'states of equal key have equal hashes and continue alike',
      detail: `${where}: ${text} and ${String(right[i])}`,
    };
  }
  return null;
}

/** The state's hash, then one text per operation. */
function futureOf(compared: Compared, path: readonly number[]): string[] {
  const { walk, exchange, archive, operations } = compared;
  walk.moveTo(path);
  const key = new Int32Array(KEY_WORDS);
  const texts = [exchange.stateHash()];
  exchange.key(archive, key);
  for (const name of operations) {
    const command = OPERATIONS[name](exchange);
    exchange.restartChain();
    const code = command === null ? 'not applicable' : outcomeCode(exchange.apply(command));
    const { current } = walk;
    current.scan();
    exchange.key(archive, key, current);
    texts.push(`${code} ${key.join()} ${exchange.chainHash()}`);
    current.restoreScanned();
  }
  return texts;
}
