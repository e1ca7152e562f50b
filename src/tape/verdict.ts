/** Verdict on a recording: the reasons for which it is not what it says; none if it passes. */
import type { SyncFacts } from './book-sync.ts';
import { checksumText, type ChecksumFacts } from './formats/book-checksum.ts';
import { isOtherMarket } from './price-jumps.ts';
import type { OrderingFacts } from './reading-order.ts';
import type { RecordFacts } from './record-checks.ts';
import type { TapeVerification } from './verify-tape.ts';

export interface VerdictInput {
  readonly verification: TapeVerification;
  readonly sync: SyncFacts;
  readonly ordering: OrderingFacts;
  readonly records: RecordFacts;
  /** Gaps are no fault: the market closes, or bars without trades are omitted. */
  readonly allowGaps: boolean;
  /** Checksums of the streams, compared when they were imported. */
  readonly checksums?: readonly ChecksumFacts[];
}

/** Reasons of a failure with their figures. */
export function faultsOf(input: VerdictInput): string[] {
  const { verification, sync, ordering, records, allowGaps, checksums = [] } = input;
  const { commands, compared, touches, mismatched, crossedBooks, violations } = verification;
  const hasUpdates = sync.depths + sync.snapshots + sync.orders > 0;
  const seconds = (us: number): string => `${String(us / 1e6)} s`;
  // Bars have gaps, and no book.
  const span = seconds(sync.lastUs - sync.firstUs);
  const staleUs = sync.staleUs + records.silentBookUs;
  const withoutBook = staleUs === 0 ? '' : `, no book for ${seconds(staleUs)} of ${span}`;
  const repeated = sync.duplicates + sync.repeatedUpdates + records.repeated;
  const silent = [...new Set(records.silences.map(({ feed }) => feed))].join(', ');
  const reasons: readonly (readonly [boolean, string])[] = [
    [commands === 0 && touches === 0, 'the recording has nothing that can be played'],
    [
      sync.depths > 0 && sync.snapshots === 0 && sync.orders === 0,
      `no snapshot: ${String(sync.depths)} updates change an unknown book`,
    ],
    [
      sync.gaps > 0 && !allowGaps,
      `${count(sync.gaps, 'gap')}${withoutBook}; --allow-gaps accepts gaps`,
    ],
    [
      records.silenceCount > 0 && !allowGaps,
      `${count(records.silenceCount, 'suspected gap')} of ${silent}${withoutBook}; --allow-gaps accepts gaps`,
    ],
    [
      records.missingTrades > 0 && !allowGaps,
      `${count(records.missingTrades, 'trade')} missing by their ids; --allow-gaps accepts gaps`,
    ],
    [
      mismatched > 0,
      `${count(mismatched, 'best price')} of the venue differ from the recorded book`,
    ],
    [
      hasUpdates && touches > 0 && compared === 0,
      'none of the best prices of the venue could be compared',
    ],
    ...checksums.map((facts) => [facts.mismatched > 0, checksumText(facts)] as const),
    [crossedBooks > 0, `the recorded book is crossed after ${count(crossedBooks, 'update')}`],
    [repeated > 0, `${count(repeated, 'record')} repeated`],
    [sync.overlaps > 0, `${count(sync.overlaps, 'bar')} begin before the one before ends`],
    [ordering.late > 0, `${count(ordering.late, 'record')} more than 2 s out of order`],
    [
      isOtherMarket(sync.largestJump),
      `the price jumps by a factor of ${sync.largestJump.toFixed(2)}: records of another market`,
    ],
    [violations.length > 0, `${count(violations.length, 'invariant')} violated`],
  ];
  return reasons.flatMap(([holds, text]) => (holds ? [text] : []));
}

function count(n: number, what: string): string {
  return `${String(n)} ${what}${n === 1 ? '' : 's'}`;
}
