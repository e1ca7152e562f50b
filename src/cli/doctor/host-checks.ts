/** Checks of the host: version, open files, memory, cores, ports, secret. */
import { readFileSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { availableParallelism, freemem, totalmem } from 'node:os';
import type { LogEvent } from '../../http/operator-log.ts';
import type { ServeSettings } from '../serve-settings.ts';
import { readSecrets } from '../token-secrets.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const MIN_NODE = [20, 19] as const;
/** Descriptors beside those of connections: segments, snapshots, logs, threads. */
const OTHER_FILES = 128;
const MIB = 2 ** 20;
const MIN_MEMORY = 512 * MIB;
const READY_MS = 2000;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  if (isNew) return ok('node', version);
  return fail('node', version, `install Node ${MIN_NODE.join('.')} or later`);
}

/** Node raises its soft limit to the hard one at start. */
export function checkOpenFiles(
  maxConnections: number,
  limits = readLimits('/proc/self/limits'),
): Finding {
  const needed = maxConnections + OTHER_FILES;
  const text = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (text === undefined) return ok('open files', 'no limit is shown here');
  const hard = text === 'unlimited' ? Infinity : Number(text);
  const found = `${text} allowed, ${String(needed)} needed for --max-connections ${String(maxConnections)}`;
  if (hard >= needed) return ok('open files', found);
  return fail(
    'open files',
    found,
    `raise the limit (LimitNOFILE of systemd, ulimits of compose), or set --max-connections ${String(Math.max(1, hard - OTHER_FILES))}`,
  );
}

function readLimits(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export interface Memory {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/** Memory that the process may use: that of its container, if it has a limit. */
export function memoryOfHost(): Memory {
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < totalmem() ? limit : totalmem();
  return { totalBytes: total, freeBytes: Math.min(total, freemem()) };
}

/** A snapshot is written by a thread that has the state a second time. */
export function checkMemory(snapshotBytes: number, memory = memoryOfHost()): Finding {
  const mib = (bytes: number): string => `${String(Math.round(bytes / MIB))} MiB`;
  const needed = MIN_MEMORY + 8 * snapshotBytes;
  const found = `${mib(memory.totalBytes)}, ${mib(memory.freeBytes)} free, about ${mib(needed)} needed`;
  if (memory.totalBytes < needed) {
    return fail('memory', found, 'give the host or the container more memory');
  }
  if (memory.freeBytes < needed / 2) {
    return warn('memory', found, 'end other programs, or give the host more memory');
  }
  return ok('memory', found);
}

export function checkCores(cores = availableParallelism()): Finding {
  if (cores >= 2) return ok('cores', String(cores));
  return warn(
    'cores',
    String(cores),
    'snapshots and signatures share the core with requests; use two or more',
  );
}

/** The secret of tokens: whether there is one, is long enough and is private. */
export async function checkSecret(settings: ServeSettings): Promise<Finding> {
  const { secretFile } = settings;
  const events: LogEvent[] = [];
  try {
    await readSecrets(settings, (event) => {
      events.push(event);
    });
  } catch (error) {
    const advice = 'write one: head -c 32 /dev/urandom | base64 > secret; chmod 600 secret';
    return fail('secret', (error as Error).message, advice);
  }
  if (events.includes('secret_random')) {
    return warn(
      'secret',
      'none is set: tokens end with the process',
      'set --secret-file for an exchange that users log in to',
    );
  }
  if (secretFile === null) return ok('secret', 'from ORRERY_SECRET');
  const { mode } = statSync(secretFile);
  if ((mode & 0o077) === 0) return ok('secret', secretFile);
  const shown = (mode & 0o777).toString(8);
  return warn('secret', `${secretFile} has mode ${shown}`, `chmod 600 ${secretFile}`);
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Whether a server can listen there; an exchange that is ready there is no fault. */
export async function checkPort(check: string, option: string, at: Place): Promise<Finding> {
  const { host, port } = at;
  const name = `${host}:${String(port)}`;
  if (port === 0) return ok(check, 'a free port is taken at the start');
  const error = await listenError(at);
  if (error === null) return ok(check, `${name} is free`);
  if (error.code === 'EADDRINUSE') {
    if (await isExchange(at)) return ok(check, `${name}: an exchange answers there`);
    return fail(
      check,
      `${name} is in use by another program`,
      `choose another ${option}, or end it`,
    );
  }
  if (error.code === 'EACCES') {
    const advice = `choose a ${option} from 1024, or grant CAP_NET_BIND_SERVICE`;
    return fail(check, `${name} needs rights that this user does not have`, advice);
  }
  return fail(check, `${name}: ${error.message}`, `choose an address of this host`);
}

function listenError({ host, port }: Place): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(null);
      });
    });
  });
}

/** True if `/readyz` or `/metrics` there is of an exchange. */
function isExchange({ host, port }: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const any = host === '0.0.0.0' || host === '::';
    const socket = connect({ host: any ? '127.0.0.1' : host, port });
    let text = '';
    const end = (): void => {
      socket.destroy();
      resolve(/"sequenceNumber":|orrery_|Service unavailable|see \/metrics/.test(text));
    };
    socket.setTimeout(READY_MS, end);
    socket.on('error', end);
    socket.on('end', end);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > 65_536) end();
    });
    socket.write('GET /readyz HTTP/1.1\r\nHost: doctor\r\nConnection: close\r\n\r\n');
  });
}
