/** Expectations that a step cannot have: nothing of it could differ from them. */
import { ENDPOINTS, findEndpoint, type Endpoint } from '../contract/endpoints.ts';

/** Keys with the steps to which they belong. */
export type Misplaced = readonly (readonly [key: string, owner: string])[];

const LIST = 'a step that reads a list';

/** `verb`: key of the action, if there is one; `request`: the endpoint that it calls. */
export function misplacedExpectations(verb: string | undefined, request: string | null): Misplaced {
  if (verb === 'do') {
    const endpoint = findEndpoint(request ?? '');
    const isList = endpoint !== undefined && (ENDPOINTS[endpoint] as Endpoint).pages !== undefined;
    const ofLists = isList ? [] : (['more', 'keptSince'] as const);
    const ofVerbs = ['outcome', 'a step with a simulation verb'] as const;
    return [ofVerbs, ...ofLists.map((key) => [key, LIST] as const)];
  }
  const ofCalls = ['status', 'refused', 'body', 'error', 'more', 'keptSince'].map(
    (key) => [key, 'a step with "do"'] as const,
  );
  if (verb !== 'repeat') return ofCalls;
  return [...ofCalls, ['outcome', 'a step in the "repeat"'], ['events', 'a step in the "repeat"']];
}
