/** Maps a strategy's error to a place in its source file, through the bundle's source map. */
import { SourceMap, type SourceMapPayload } from 'node:module';
import { StrategyFault } from '../strategy/strategy-fault.ts';
import type { StrategyBundle } from './bundle.ts';

interface Planned {
  readonly id: string;
  readonly bundle: StrategyBundle | null;
}

/**
 * A strategy's fault with its place (`my.ts:12:7`) if the stack has one; other errors unchanged.
 */
export function withPlace(error: unknown, strategies: readonly Planned[]): unknown {
  if (!(error instanceof StrategyFault)) return error;
  const bundle = strategies.find(({ id }) => id === error.strategy)?.bundle;
  const place = bundle == null ? null : placeOf(bundle, error.thrownStack);
  if (place !== null) error.message += ` (${place})`;
  return error;
}

/** Lines of a stack that are in a file. The message before them may be long: no search repeats. */
export function framesOf(
  file: string,
  stack: string,
): { readonly text: string; readonly line: number; readonly column: number }[] {
  return stack.split('\n').flatMap((text) => {
    const [end = '', line, column] = /:(\d+):(\d+)\)?$/.exec(text) ?? [];
    const name = end === '' ? '' : text.slice(0, -end.length).split(/[\s(]/).at(-1);
    return name === file ? [{ text, line: Number(line), column: Number(column) }] : [];
  });
}

/** The innermost place of a stack in the strategy's own sources. */
export function placeOf({ file, map, inserted }: StrategyBundle, stack: string): string | null {
  if (map === '') return null;
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);
  const places = framesOf(file, stack).flatMap(({ line, column }) => {
    const original = columnOf(inserted, line, column - 1);
    const entry = sources.findEntry(line - 1, original);
    if (!('originalSource' in entry)) return [];
    const { originalSource, originalLine, originalColumn } = entry;
    const source = originalSource.split(/[\\/]/).at(-1) ?? file;
    const isOwn = !originalSource.includes('node_modules');
    return [{ isOwn, text: `${source}:${String(originalLine + 1)}:${String(originalColumn + 1)}` }];
  });
  return (places.find(({ isOwn }) => isOwn) ?? places[0])?.text ?? null;
}

/** A column without the characters that were inserted before it in its line. */
function columnOf(inserted: StrategyBundle['inserted'], line: number, column: number): number {
  let shift = 0;
  for (const [at, from, length] of inserted) {
    if (at === line && from + shift + length <= column) shift += length;
  }
  return column - shift;
}
