/**
 * States of a user for the coverage of a campaign (`--states`): a file that exports `states`, as
 * for `sometimes`. The main thread bundles it; each worker loads the bundle, which the plan keeps.
 */
import { UserError } from '../../base/user-error.ts';
import { sometimes, type Sometimes, type SometimesChecker } from '../../fuzz/sometimes.ts';
import { bundlePlain } from '../../strategy-loader/plain-bundle.ts';
import { InputError } from '../cli-support.ts';

/** A state that cannot be evaluated. */
export class StateError extends UserError {
  override readonly name = 'StateError';
  readonly code = 'states';
}

/** The file as a script without imports. Throws `UserError`. */
export async function bundleStates(path: string): Promise<string> {
  const code = await bundlePlain(path);
  try {
    await loadStates(code);
  } catch (error) {
    throw new InputError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return code;
}

/** Throws if the script has no such states. */
export async function loadStates(code: string): Promise<Sometimes> {
  const address = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const { states } = (await import(address)) as { readonly states?: unknown };
  if (typeof states !== 'object' || states === null || Object.keys(states).length === 0) {
    throw new StateError('must export `states`: an object with a name for each state');
  }
  for (const [name, state] of Object.entries(states as Readonly<Record<string, unknown>>)) {
    mustBeState(name, state);
  }
  return states as Sometimes;
}

function mustBeState(name: string, state: unknown): void {
  const place = `states[${JSON.stringify(name)}]`;
  if (typeof state !== 'object' || state === null) {
    throw new StateError(`${place}: must be an object with a function event or after`);
  }
  const fields = Object.entries(state);
  for (const [field, value] of fields) {
    if (field !== 'event' && field !== 'after') throw new StateError(`${place}.${field}: unknown`);
    if (typeof value !== 'function') throw new StateError(`${place}.${field}: must be a function`);
  }
  if (fields.length === 0) throw new StateError(`${place}: needs a function event or after`);
}

/** Counts the states. An error of one of them is not an error of the exchange: `fault` has it. */
export function countStates(states: Sometimes): SometimesChecker & { fault(): StateError | null } {
  let fault: StateError | null = null;
  const guarded = <Arguments extends readonly unknown[]>(
    name: string,
    holds: (...values: Arguments) => boolean,
  ): ((...values: Arguments) => boolean) => {
    return (...values) => {
      try {
        return holds(...values);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        fault ??= new StateError(`--states: states[${JSON.stringify(name)}] throws: ${text}`);
        return false;
      }
    };
  };
  const checker = sometimes(
    Object.fromEntries(
      Object.entries(states).map(([name, { event, after }]) => [
        name,
        {
          ...(event === undefined ? {} : { event: guarded(name, event) }),
          ...(after === undefined ? {} : { after: guarded(name, after) }),
        },
      ]),
    ),
  );
  return { ...checker, fault: () => fault };
}
