/** The list of mutants that change no result, of `npm run stryker`. */
import { expect, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as equivalents from '../../../.ci/stryker-equivalents.mjs';

interface Survivor {
  readonly from: string;
  readonly to: string;
}
type Split = (
  file: string,
  survivors: readonly Survivor[],
  list: readonly object[],
) => Record<'equivalent' | 'alive' | 'stale', readonly Survivor[]>;
const { withoutEquivalents } = equivalents as { readonly withoutEquivalents: Split };

const LIST = [
  { reason: 'x is never 0', mutants: { 'a.ts': [['x > 0', 'x >= 0']], 'b.ts': [['y', '-y', 2]] } },
];
const at = (from: string, to: string): Survivor => ({ from, to });

test('a listed survivor is equivalent, in its file only', () => {
  const survivors = [at('x > 0', 'x >= 0'), at('x > 0', 'true')];
  expect(withoutEquivalents('a.ts', survivors, LIST)).toMatchObject({
    equivalent: [at('x > 0', 'x >= 0')],
    alive: [at('x > 0', 'true')],
    stale: [],
  });
  expect(withoutEquivalents('c.ts', survivors, LIST).alive).toEqual(survivors);
});

test('an entry stands for as many survivors as it says', () => {
  const y = at('y', '-y');
  expect(withoutEquivalents('b.ts', [y, y, y], LIST)).toMatchObject({
    equivalent: [y, y],
    alive: [y],
    stale: [],
  });
});

test('an entry whose mutant is noticed is stale', () => {
  expect(withoutEquivalents('b.ts', [at('y', '-y')], LIST).stale).toMatchObject([at('y', '-y')]);
  expect(withoutEquivalents('a.ts', [], LIST).stale).toMatchObject([at('x > 0', 'x >= 0')]);
});
