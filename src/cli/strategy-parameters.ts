/** `--param name=value` on the command line. */
import type { ParameterValue } from '../strategy/definition.ts';
import { InputError } from './cli-support.ts';

export function parametersOf(texts: readonly string[]): Record<string, ParameterValue> {
  const values: Record<string, ParameterValue> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new InputError(`--param '${text}': must be name=value`);
    const name = text.slice(0, equals);
    if (Object.hasOwn(values, name)) throw new InputError(`--param ${name}: given twice`);
    values[name] = text.slice(equals + 1);
  }
  return values;
}
