/**
 * Headers of replies of a server whose journal is shared: which state the reply shows. A server
 * with a journal of its own sends none of them.
 */
export const REPLICA_HEADERS = {
  /** `leader` or `follower`. */
  role: 'x-orrery-role',
  /** Epoch of the leader, as far as this server knows. */
  epoch: 'x-orrery-epoch',
  /** Sequence number of the last command in the state shown. */
  place: 'x-orrery-place',
  /** Time of that command in ms. No later update has an earlier time, whatever the clocks show. */
  time: 'x-orrery-time',
  /** Every command committed this many milliseconds before the reply was made is in the state. */
  lag: 'x-orrery-lag-ms',
} as const;
