/** A subtle bug, written from the sources alone, without regard to what the fuzzer checks. */
import type { SourceEdit } from '../../mutants/mutant.ts';

export interface SubtleBug extends SourceEdit {
  readonly id: string;
  /** Why no command can show it: it does not count in the score. */
  readonly equivalent?: string;
  readonly area:
    | 'matching'
    | 'money'
    | 'groups'
    | 'nonces'
    | 'vault'
    | 'liquidation'
    | 'timers'
    | 'snapshots'
    | 'hashes'
    | 'journal'
    | 'gateway'
    | 'candles'
    | 'feeds';
}
