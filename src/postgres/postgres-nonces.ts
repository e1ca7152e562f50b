/** Login nonces that were used, shared by all servers of a journal. */
import { randomInt } from 'node:crypto';
import type { NonceStore } from '../journal-files/used-nonces.ts';
import type { Session } from './session.ts';

/** Logins between deletions of expired nonces. */
const SWEEP_EVERY = 1000;
/** The clock of another server may be behind by this: for it, the nonce has not expired. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** `$3` is this server's turn: a login waits for one whose commit waits for a standby. */
const USE = `
  with turn as materialized (select pg_advisory_xact_lock($3))
  insert into orrery.logins (nonce, expires_ms) select $1, $2 from turn
  on conflict (nonce) do nothing returning nonce`;

export class PostgresNonces implements NonceStore {
  private readonly session: Session;
  private readonly turn = randomInt(2 ** 48 - 1);
  private untilSweep = SWEEP_EVERY;

  constructor(session: Session) {
    this.session = session;
  }

  async use(nonce: string, expiresMs: number, nowMs: number): Promise<boolean> {
    // A nonce that a promoted standby lacks could be used again.
    const rows = await this.session.write('use-nonce', USE, [nonce, expiresMs, this.turn]);
    this.untilSweep -= 1;
    if (this.untilSweep === 0) {
      this.untilSweep = SWEEP_EVERY;
      await this.session.query('drop-nonces', 'delete from orrery.logins where expires_ms < $1', [
        nowMs - CLOCKS_DIFFER_MS,
      ]);
    }
    return rows.length > 0;
  }
}
