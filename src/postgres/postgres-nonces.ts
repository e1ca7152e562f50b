/** Login nonces that were used, shared by all servers of a journal. */
import type { NonceStore } from '../journal-files/used-nonces.ts';
import type { Session } from './session.ts';

/** Logins between deletions of expired nonces. */
const SWEEP_EVERY = 1000;
/** The clock of another server may be behind by this: for it, the nonce has not expired. */
const CLOCKS_DIFFER_MS = 3_600_000;

export class PostgresNonces implements NonceStore {
  private readonly session: Session;
  private untilSweep = SWEEP_EVERY;

  constructor(session: Session) {
    this.session = session;
  }

  async use(nonce: string, expiresMs: number, nowMs: number): Promise<boolean> {
    // A nonce that a promoted standby lacks could be used again.
    const rows = await this.session.write(
      'use-nonce',
      `insert into orrery.logins (nonce, expires_ms) values ($1, $2)
       on conflict (nonce) do nothing returning nonce`,
      [nonce, expiresMs],
    );
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
