/** The first difference between a host and its twin, with what shows it. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Address } from '../../num/units.ts';
import type { Violation } from '../checker.ts';
import type { ReplyDifference } from './compare-replies.ts';
import type { SimVerb } from './twin-host.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Shows a difference after the commands. */
export type Probe =
  | {
      readonly kind: 'call';
      readonly endpoint: EndpointId;
      readonly request: Fields;
      readonly account: Address | null;
      /** Number of cursors to follow before. */
      readonly page: number;
    }
  /** A request of `/sim`, which may become no command. */
  | { readonly kind: 'sim'; readonly verb: SimVerb; readonly fields: Fields }
  /** The last command, by its own reply. */
  | { readonly kind: 'command' }
  /** The feeds, of which one differs. */
  | { readonly kind: 'feeds' };

/** The first difference. */
export interface HostDivergence {
  readonly violation: Violation;
  readonly difference: ReplyDifference;
  readonly probe: Probe;
  /** Number of commands of the twin, without those of the probe. */
  readonly commands: number;
  /** Time of the probe. */
  readonly timeMs: number;
}
