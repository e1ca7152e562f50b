/**
 * Settings of `orrery serve`. Precedence: flags, environment, the file's `server` section,
 * defaults. One table defines all names of a setting, so that `--data-dir`, ORRERY_DATA_DIR and
 * `server: { dataDir }` are equivalent.
 */
import type { Argv } from 'yargs';
import type { LogFormat } from '../http/operator-log.ts';
import { isProxyRange } from '../http/client-address.ts';
import { InputError } from './cli-support.ts';

interface Setting {
  readonly describe: string;
  /** Default value as shown in the help. */
  readonly fallback: string;
  readonly takes: 'text' | 'flag' | 'list';
}

/** By flag; the other names are derived. */
export const SETTINGS = {
  host: { takes: 'text', fallback: '127.0.0.1', describe: 'address to listen on' },
  port: { takes: 'text', fallback: '8080', describe: 'port; 0 selects a free port' },
  'data-dir': {
    takes: 'text',
    fallback: './var',
    describe: 'folder of the journal and its snapshots',
  },
  journal: {
    takes: 'text',
    fallback: 'the data folder',
    describe: 'a journal that several servers share, postgres://…',
  },
  follow: {
    takes: 'flag',
    fallback: 'false',
    describe: 'with --journal: follow the leader, serve reads, and take over when it fails',
  },
  advertise: {
    takes: 'text',
    fallback: 'http://host:port',
    describe: 'with --journal: URL of this server, which followers give to clients',
  },
  'lease-ms': {
    takes: 'text',
    fallback: '1500',
    describe: 'with --journal: a follower takes over after this time without the leader',
  },
  clock: {
    takes: 'text',
    fallback: 'wall',
    describe: 'wall: system clock; virtual: moved only by /sim/clock',
  },
  durability: {
    takes: 'text',
    fallback: 'strict',
    describe:
      'strict: respond after fsync; relaxed: respond before, a crash may lose the last commands',
  },
  'snapshot-every': {
    takes: 'text',
    fallback: '100000',
    describe: 'commands between snapshots; 0 writes one at shutdown only, and none with --journal',
  },
  'secret-file': {
    takes: 'text',
    fallback: 'a random secret',
    describe: 'file with the token secret, at least 32 bytes; ORRERY_SECRET is the secret itself',
  },
  'previous-secret-file': {
    takes: 'text',
    fallback: 'none',
    describe:
      'file with the secret before, if there is one; its tokens stay valid. SIGHUP reads both files again',
  },
  'sim-token': {
    takes: 'text',
    fallback: 'none',
    describe: 'bearer token for the /sim/* endpoints',
  },
  'operator-token': {
    takes: 'text',
    fallback: 'none',
    describe: 'bearer token for the /operator/* endpoints',
  },
  'trust-signatures': {
    takes: 'flag',
    fallback: 'false',
    describe: 'do not verify signatures of orders and requests',
  },
  'verify-threads': {
    takes: 'text',
    fallback: 'one per other core, at most 4',
    describe: 'threads for signature recovery under load; 0: none',
  },
  'max-connections': {
    takes: 'text',
    fallback: '10000',
    describe: 'max open connections, feeds included; beyond it status 503',
  },
  'accounts-per-hour': {
    takes: 'text',
    fallback: '600',
    describe: 'max new accounts and subaccounts an hour and address; beyond it status 429',
  },
  'cors-origin': {
    takes: 'list',
    fallback: 'none',
    describe: 'allowed CORS origins, comma-separated; * allows all',
  },
  previews: {
    takes: 'text',
    fallback: 'on',
    describe: 'previews of orders; off, as they show hidden slices and stops that an order reaches',
  },
  'security-headers': {
    takes: 'text',
    fallback: 'pages',
    describe: 'security headers: on HTML pages, on all responses, or off',
  },
  'trust-proxy': {
    takes: 'list',
    fallback: 'none',
    describe: 'addresses of proxies whose X-Forwarded-For is trusted',
  },
  'log-level': {
    takes: 'text',
    fallback: 'warn',
    describe: 'log level on standard error; info logs every request',
  },
  'log-format': {
    takes: 'text',
    fallback: 'text',
    describe: 'lines for operators on standard error: text, or json with an event each',
  },
  'metrics-port': {
    takes: 'text',
    fallback: '9464',
    describe: 'port of /metrics; 0: a free one; api: on the port of the API; off',
  },
  'metrics-host': {
    takes: 'text',
    fallback: '127.0.0.1',
    describe: 'address that /metrics listens on',
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as Name[];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A journal in PostgreSQL. */
export interface SharedJournal {
  readonly address: string;
  readonly follow: boolean;
  readonly advertise: string;
  readonly leaseMs: number;
}

/** URL of this server; empty if host and port do not name it for others. */
function ownUrl(host: string, port: number): string {
  if (port === 0 || host === '0.0.0.0' || host === '::') return '';
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

/** Where `/metrics` is served: on a port of its own, on the port of the API, or nowhere. */
export type MetricsPlace =
  | {
      readonly kind: 'port';
      readonly host: string;
      readonly port: number;
      /** False for the default port, which gives way to a free one. */
      readonly isChosen: boolean;
    }
  | { readonly kind: 'api' | 'off' };

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** null: the data folder. */
  readonly journal: SharedJournal | null;
  readonly clock: 'wall' | 'virtual';
  readonly durability: 'strict' | 'relaxed';
  readonly snapshotEvery: number;
  readonly secretFile: string | null;
  readonly previousSecretFile: string | null;
  readonly simToken: string | null;
  readonly operatorToken: string | null;
  readonly trustSignatures: boolean;
  /** Null: one per other core, at most 4. */
  readonly verifyThreads: number | null;
  readonly maxConnections: number;
  readonly accountsPerHour: number;
  readonly corsOrigins: readonly string[];
  readonly previews: boolean;
  readonly securityHeaders: 'pages' | 'all' | 'off';
  readonly trustProxy: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: LogFormat;
  readonly metrics: MetricsPlace;
}

export const environmentName = (name: string): string =>
  `ORRERY_${name.toUpperCase().replaceAll('-', '_')}`;
export const fileKey = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_whole, letter: string) => letter.toUpperCase());

export function addOptions<T>(yargs: Argv<T>): Argv<T & Readonly<Record<string, unknown>>> {
  let options: Argv<T> = yargs;
  for (const name of SETTING_NAMES) {
    const { takes, describe, fallback } = SETTINGS[name] as Setting;
    options = options.option(name, {
      type: takes === 'flag' ? 'boolean' : 'string',
      describe,
      defaultDescription: fallback,
      requiresArg: takes !== 'flag',
    });
  }
  return options as Argv<T & Readonly<Record<string, unknown>>>;
}

/** A given value and the name by which it was given. */
interface FoundSetting {
  readonly value: unknown;
  readonly called: string;
}

export interface SettingSources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The `server` section and the path of its file. */
  readonly file: { readonly path: string; readonly server: unknown } | null;
}

/** Throws `InputError` with the setting's name as given and its valid values. */
export function readSettings(sources: SettingSources): ServeSettings {
  const section = sectionOf(sources.file);
  const findSetting = (name: Name): FoundSetting | null => {
    const flag = sources.flags[name];
    if (flag !== undefined) return { value: flag, called: `--${name}` };
    const variable = environmentName(name);
    const inEnvironment = sources.environment[variable];
    if (inEnvironment !== undefined) return { value: inEnvironment, called: variable };
    const key = fileKey(name);
    if (!section.has(key)) return null;
    return { value: section.get(key), called: `${sources.file?.path ?? ''}: server.${key}` };
  };
  const text = (name: Name): string | null => {
    const found = findSetting(name);
    if (found === null) return null;
    // A repeated flag is a list.
    if (typeof found.value !== 'string') throw new InputError(`${found.called} must be given once`);
    if (found.value === '') throw new InputError(`${found.called} must not be empty`);
    return found.value;
  };
  const integer = (name: Name, min: number, max: number, words = ''): number => {
    const digits = text(name) ?? SETTINGS[name].fallback;
    const number = /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
    if (number >= min && number <= max) return number;
    const range =
      max === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${String(min)}`
        : `from ${String(min)} to ${String(max)}`;
    throw new InputError(`${findSetting(name)?.called ?? name} must be ${words}${range}`);
  };
  const word = <T extends string>(name: Name, words: readonly T[]): T => {
    const found = text(name) ?? SETTINGS[name].fallback;
    const known = words.find((one) => one === found);
    if (known !== undefined) return known;
    throw new InputError(`${findSetting(name)?.called ?? name} must be one of ${words.join(', ')}`);
  };
  const list = (name: Name): string[] => {
    const found = findSetting(name);
    if (found === null) return [];
    const values: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value];
    return values.flatMap((value) => {
      if (typeof value !== 'string')
        throw new InputError(`${found.called} must be a list of texts`);
      return value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
    });
  };
  const checkedList = (name: Name, isValid: (text: string) => boolean, what: string): string[] => {
    const texts = list(name);
    const wrong = texts.find((text) => !isValid(text));
    if (wrong === undefined) return texts;
    throw new InputError(`${findSetting(name)?.called ?? name} '${wrong}': must be ${what}`);
  };
  const flag = (name: Name): boolean => {
    const found = findSetting(name);
    if (found === null) return false;
    if (typeof found.value === 'boolean') return found.value;
    if (found.value === 'true' || found.value === 'false') return found.value === 'true';
    throw new InputError(`${found.called} must be true or false`);
  };
  const host = text('host') ?? SETTINGS.host.fallback;
  const port = integer('port', 0, 65_535);
  const sharedJournal = (): SharedJournal | null => {
    const address = text('journal');
    if (address === null) {
      for (const name of ['follow', 'advertise', 'lease-ms'] as const) {
        const found = findSetting(name);
        if (found !== null) throw new InputError(`${found.called} requires --journal`);
      }
      return null;
    }
    if (!/^postgres(ql)?:\/\//.test(address)) {
      throw new InputError('--journal must start with postgres://; a folder is --data-dir');
    }
    return {
      address,
      follow: flag('follow'),
      advertise: text('advertise') ?? ownUrl(host, port),
      leaseMs: integer('lease-ms', 300, 600_000),
    };
  };
  const metricsPlace = (): MetricsPlace => {
    const asked = text('metrics-port');
    if (asked === 'api' || asked === 'off') return { kind: asked };
    const metricsHost = text('metrics-host') ?? SETTINGS['metrics-host'].fallback;
    // Servers on free ports do not compete for the default one.
    if (asked === null && port === 0)
      return { kind: 'port', host: metricsHost, port: 0, isChosen: true };
    const chosen = integer('metrics-port', 0, 65_535, 'api, off, or a port ');
    return { kind: 'port', host: metricsHost, port: chosen, isChosen: asked !== null };
  };
  return {
    host,
    port,
    journal: sharedJournal(),
    dataDir: text('data-dir') ?? SETTINGS['data-dir'].fallback,
    clock: word('clock', ['wall', 'virtual']),
    durability: word('durability', ['strict', 'relaxed']),
    snapshotEvery: integer('snapshot-every', 0, Number.MAX_SAFE_INTEGER),
    secretFile: text('secret-file'),
    previousSecretFile: text('previous-secret-file'),
    simToken: text('sim-token'),
    operatorToken: text('operator-token'),
    trustSignatures: flag('trust-signatures'),
    verifyThreads: findSetting('verify-threads') === null ? null : integer('verify-threads', 0, 64),
    maxConnections: integer('max-connections', 1, 1_000_000),
    accountsPerHour: integer('accounts-per-hour', 1, 1_000_000),
    corsOrigins: checkedList(
      'cors-origin',
      isOrigin,
      'an origin such as https://example.com, or *',
    ),
    previews: word('previews', ['on', 'off']) === 'on',
    securityHeaders: word('security-headers', ['pages', 'all', 'off']),
    trustProxy: checkedList(
      'trust-proxy',
      isProxyRange,
      'an address, a subnet such as 10.0.0.0/8, loopback, linklocal or uniquelocal',
    ),
    logLevel: word('log-level', LOG_LEVELS),
    logFormat: word('log-format', ['text', 'json']),
    metrics: metricsPlace(),
  };
}

/** As browsers send it: without a path, also without the slash at its end. */
function isOrigin(text: string): boolean {
  return text === '*' || text === 'null' || /^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+$/i.test(text);
}

function sectionOf(file: SettingSources['file']): ReadonlyMap<string, unknown> {
  if (file?.server === undefined) return new Map();
  const { path, server } = file;
  if (typeof server !== 'object' || server === null || Array.isArray(server)) {
    throw new InputError(`${path}: server: must be a map`);
  }
  const keys = SETTING_NAMES.map(fileKey);
  for (const key of Object.keys(server)) {
    if (!keys.includes(key)) throw new InputError(`${path}: server.${key}: unknown key`);
  }
  return new Map(Object.entries(server));
}
