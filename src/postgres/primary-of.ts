/**
 * Of several hosts, the one to use: the first that takes writes and is no former primary. A former
 * primary that is started again takes writes too. Each promotion begins a later timeline, so it is
 * known by its earlier one.
 */

/** Time for the other hosts to answer once one takes writes. */
const OTHERS_MS = 200;

const TIMELINE = `
  select (pg_control_system()).system_identifier::text as cluster,
    ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint as timeline`;

/** A client of one host. */
interface Asked {
  readonly query: (text: string) => Promise<{ readonly rows: readonly unknown[] }>;
}

interface Primary {
  /** Empty if the server does not show it. */
  readonly cluster: string;
  readonly timeline: number;
}

const UNKNOWN: Primary = { cluster: '', timeline: 0 };

interface Opening<C> {
  /** Connects; true if the server is a standby. */
  readonly open: (client: C) => Promise<boolean>;
  readonly drop: (client: C) => void;
  readonly takesStandby: boolean;
}

/** Latest timeline of each cluster that this process has seen. */
const latest = new Map<string, number>();

/**
 * Drops the other clients. Rejects with an `AggregateError`: the
 * problem of each host, in their order.
 */
export async function primaryOf<C extends Asked>(
  clients: readonly C[],
  { open, drop, takesStandby }: Opening<C>,
): Promise<C> {
  const problems: unknown[] = clients.map(() => new Error('no answer in time'));
  const found = new Map<C, Primary>();
  const attempts = clients.map(async (client, i) => {
    try {
      const isStandby = await open(client);
      if (isStandby && !takesStandby) throw new Error('the server is a standby');
      found.set(client, clients.length === 1 ? UNKNOWN : await placeOf(client));
    } catch (error) {
      problems[i] = error;
      drop(client);
    }
  });
  await enough(attempts, () => found.size > 0);
  for (const { cluster, timeline } of found.values()) {
    latest.set(cluster, Math.max(timeline, latest.get(cluster) ?? 0));
  }
  let chosen: C | null = null;
  for (const [i, client] of clients.entries()) {
    const one = found.get(client);
    if (chosen === null && one !== undefined) {
      if (one.cluster === '' || one.timeline === latest.get(one.cluster)) chosen = client;
      else problems[i] = new Error('a former primary: another server was promoted in its place');
    }
    if (chosen !== client) drop(client);
  }
  if (chosen === null) throw new AggregateError(problems);
  return chosen;
}

/** Waits for all attempts, or for a time after one that has succeeded. */
function enough(attempts: readonly Promise<void>[], hasOne: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    for (const attempt of attempts) {
      void attempt.then(() => {
        if (hasOne()) timer ??= setTimeout(resolve, OTHERS_MS);
      });
    }
    void Promise.all(attempts).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function placeOf(client: Asked): Promise<Primary> {
  try {
    const { rows } = await client.query(TIMELINE);
    const [place] = rows as { cluster: string; timeline: string }[];
    if (place === undefined) return UNKNOWN;
    return { cluster: place.cluster, timeline: Number(place.timeline) };
  } catch {
    // Some services do not show it.
    return UNKNOWN;
  }
}
