/** Limits of a listing that tie fields to each other, as errors that name field and limit. The engine checks them, too. */
import { invalidField } from '../contract/messages.ts';
import type { MarketSpec } from '../engine/config.ts';
import { fraction } from './encode.ts';
import { RequestError } from './request-error.ts';

export function mustBeListable(spec: MarketSpec): void {
  checkDeviation(spec);
  checkFirstMark(spec);
  const { openNotionalLower: lower, openNotionalUpper: upper } = spec;
  if ((lower === null) !== (upper === null)) {
    fail(lower === null ? 'openNotionalLower' : 'openNotionalUpper', 'is needed with the other');
  }
  if (lower !== null && upper !== null && lower >= upper) {
    fail('openNotionalLower', 'must be below openNotionalUpper');
  }
}

/** A mark made of quotes must leave who opened at the index above maintenance. */
function checkDeviation({ markSource, maxMarkDeviationPpm, tiers }: MarketSpec): void {
  if (markSource === 'index' || markSource === 'external') return;
  const most = tiers.map(({ initialMarginPpm: initial, maintenanceMarginPpm: maintenance }) =>
    Math.min(initial - maintenance, Math.floor(maintenance / 2)),
  );
  const limit = Math.max(0, Math.min(...most));
  if (maxMarkDeviationPpm <= limit) return;
  const reason = 'the least of initial − maintenance and maintenance / 2 over all tiers';
  fail('maxMarkDeviation', `must be at most ${fraction(limit)}, ${reason}`);
}

function checkFirstMark({ markSource, initialMarkTicks, recordedLiquidity }: MarketSpec): void {
  const isOwn = markSource === 'last' || markSource === 'mid';
  if (isOwn && initialMarkTicks === null && !recordedLiquidity) {
    fail('initialMark', `is needed: markSource ${markSource} has no first price without it`);
  }
  if (!isOwn && initialMarkTicks !== null) {
    fail('initialMark', 'belongs to markSource last or mid');
  }
}

function fail(field: string, problem: string): never {
  throw new RequestError(invalidField(`market.${field}`, problem));
}
