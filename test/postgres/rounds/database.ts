/** PostgreSQL on a machine of its own: a primary, or its synchronous standby. */
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { programs, serverUser } from '../cluster.ts';
import type { Machine } from './network.ts';

const PORT = 5432;
const TRUST = 'host all all 10.77.0.0/16 trust\nhost replication all 10.77.0.0/16 trust\n';

export class Database {
  readonly machine: Machine;
  private readonly folder: string;
  private readonly bin = programs();
  private readonly user = serverUser().uid;

  private constructor(machine: Machine) {
    this.machine = machine;
    this.folder = mkdtempSync(join(tmpdir(), 'orrery-round-'));
    const { uid, gid } = serverUser();
    chownSync(this.folder, uid, gid);
    chmodSync(this.folder, 0o700);
  }

  static primary(machine: Machine): Database {
    const database = new Database(machine);
    database.run('initdb', ['-D', database.data, '-A', 'trust', '-U', 'postgres', '--no-sync']);
    appendFileSync(join(database.data, 'pg_hba.conf'), TRUST);
    database.start();
    return database;
  }

  /** A standby; every commit waits for one that is synchronous. */
  static async standby(
    primary: Database,
    machine: Machine,
    isSynchronous: boolean,
  ): Promise<Database> {
    const standby = new Database(machine);
    const from = ['-h', primary.host, '-p', String(PORT), '-U', 'postgres'];
    standby.run('pg_basebackup', [...from, '-D', standby.data, '-R', '-c', 'fast', '--no-sync']);
    standby.start();
    if (!isSynchronous) return standby;
    const client = new pg.Client({ connectionString: primary.address() });
    await client.connect();
    await client.query("alter system set synchronous_standby_names = '*'");
    await client.query('select pg_reload_conf()');
    await client.end();
    return standby;
  }

  get host(): string {
    return this.machine.address('data');
  }
  address(): string {
    return `postgres://postgres@${this.host}:${PORT}/postgres`;
  }

  promote(): void {
    this.run('pg_ctl', ['-D', this.data, '-w', 'promote']);
  }

  /** As after a loss of power of its processes: nothing is written any more. */
  kill(): void {
    try {
      this.run('pg_ctl', ['-D', this.data, '-w', '-m', 'immediate', 'stop']);
    } catch {
      // It is stopped already.
    }
  }

  remove(): void {
    this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  private start(): void {
    const options = `-p ${PORT} -c listen_addresses=${this.host} -k ${this.folder}`;
    const log = join(this.folder, 'log');
    this.run('pg_ctl', ['-D', this.data, '-w', '-o', options, '-l', log, 'start']);
  }

  private run(program: string, args: readonly string[]): void {
    this.machine.run(join(this.bin, program), args, this.user);
  }
}
