/**
 * Checks the events of a step. Expected events must occur in order, others may occur between them.
 * `exact` allows no others; each event is still matched in part.
 */
import { differences, type Difference, type MatchOptions } from './match-expectation.ts';
import { itemPath, type SourceNode } from './source-node.ts';

type DescribedEvent = Readonly<Record<string, unknown>>;

export function checkEvents(
  expected: SourceNode | null,
  actual: readonly DescribedEvent[],
  options: MatchOptions,
): Difference[] {
  if (expected?.kind !== 'list') return [];
  const inPart = { ...options, exact: false };
  if (options.exact) return differences(expected, actual, 'events', inPart);
  let from = 0;
  return expected.items.flatMap((wanted, i) => {
    const at = actual.findIndex(
      (event, j) => j >= from && differences(wanted, event, '', inPart).length === 0,
    );
    if (at < 0) return missing(wanted, actual.slice(from), itemPath('events', i), inPart);
    from = at + 1;
    return [];
  });
}

/** Reports a missing event with the nearest event of its kind, or with the kinds that occurred. */
function missing(
  wanted: SourceNode,
  rest: readonly DescribedEvent[],
  path: string,
  options: MatchOptions,
): Difference[] {
  const [nearest] = rest
    .map((event) => differences(wanted, event, path, options))
    .filter((found) => found.every((difference) => difference.path !== `${path}.kind`))
    .sort((a, b) => a.length - b.length);
  if (nearest !== undefined) return nearest;
  const came = rest.map((event) => String(event['kind'])).join(', ');
  const expected = differences(wanted, null, path, options)[0]?.expected ?? '';
  return [{ path, expected, actual: came === '' ? 'no further event' : came }];
}
