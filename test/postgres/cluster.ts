/** A PostgreSQL server in a temporary folder, on loopback and a free port; for tests. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
/** Id of the account without rights, which Linux keeps for that. */
const WITHOUT_RIGHTS = '65534';
/** Clock ticks per second of /proc. */
const TICKS = 100;
const MISSING =
  'PostgreSQL 15 or newer is not installed; on Debian: apt-get install postgresql (elsewhere, put initdb and pg_ctl on the PATH)';

/** Folder of the newest server's programs. */
export function programs(): string {
  if (existsSync(DEBIAN)) {
    const versions = readdirSync(DEBIAN)
      .map(Number)
      .filter((version) => version >= 15 && existsSync(join(DEBIAN, String(version), 'bin/initdb')))
      .sort((a, b) => b - a);
    if (versions[0] !== undefined) return join(DEBIAN, String(versions[0]), 'bin');
  }
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    if (existsSync(join(folder, 'initdb'))) return folder;
  }
  throw new Error(MISSING);
}

export class Cluster {
  readonly port: number;
  private readonly folder: string;
  private readonly bin: string;
  private readonly user: { readonly uid: number; readonly gid: number } | null;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
    this.bin = programs();
    // The server refuses to run as root.
    this.user = process.getuid?.() === 0 ? serverUser() : null;
  }

  /** Throws with one line if PostgreSQL is not installed. */
  static async start(): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-pg-'));
    const cluster = new Cluster(folder, await freePort());
    const { user } = cluster;
    if (user !== null) chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o700);
    cluster.run('initdb', ['-D', cluster.data, '-A', 'trust', '-U', 'postgres']);
    cluster.startServer();
    return cluster;
  }

  /** A synchronous standby of this server. Commits then wait for it. */
  async addStandby(): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-pg-'));
    const standby = new Cluster(folder, await freePort());
    const { user } = standby;
    if (user !== null) chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o700);
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres'];
    standby.run('pg_basebackup', [...from, '-D', standby.data, '-R', '-c', 'fast']);
    standby.startServer();
    return standby;
  }

  /** Processor seconds of all processes of the server so far. */
  cpuSeconds(): number {
    const postmaster = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0] ?? '';
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    return [postmaster, ...children.trim().split(' ')]
      .filter((pid) => pid !== '')
      .reduce((sum, pid) => sum + cpuSecondsOf(Number(pid)), 0);
  }

  promote(): void {
    this.run('pg_ctl', ['-D', this.data, '-w', 'promote']);
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  address(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  startServer(): void {
    const options = `-p ${this.port} -c listen_addresses=127.0.0.1 -k ${this.folder}`;
    this.run('pg_ctl', [
      ...['-D', this.data, '-w', '-o', options, '-l', join(this.folder, 'log'), 'start'],
    ]);
  }

  /** `immediate`: as after a crash. */
  stopServer(mode: 'fast' | 'immediate'): void {
    this.run('pg_ctl', ['-D', this.data, '-w', '-m', mode, 'stop']);
  }

  stop(): void {
    try {
      this.stopServer('immediate');
    } catch {
      // It is stopped already.
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private run(program: string, args: readonly string[]): void {
    // A server that outlives the call must not keep its output open.
    execFileSync(join(this.bin, program), args, {
      stdio: 'ignore',
      cwd: this.folder,
      ...this.user,
    });
  }
}

/** Processor seconds of a process so far; 0 if it has ended. */
export function cpuSecondsOf(pid: number): number {
  const stat = readStat(pid);
  const [user = '0', system = '0'] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS;
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * The user that runs the server, since it refuses to run as root: the package's own, or the account
 * without rights on a machine whose accounts were reset after the package was installed.
 */
export function serverUser(): { uid: number; gid: number } {
  const [user] = ['postgres', WITHOUT_RIGHTS].flatMap((name) => idOf(name) ?? []);
  if (user === undefined) throw new Error(`no user 'postgres', and none with id ${WITHOUT_RIGHTS}`);
  return user;
}

function idOf(name: string): { uid: number; gid: number } | null {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
