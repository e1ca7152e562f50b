/**
 * How `orrery serve` is set: flags stand over the environment, that over the file's `server` section, that over the defaults. One table says
 * every setting's names, so that `--data-dir`, ORRERY_DATA_DIR and `server: { dataDir }` are the same thing everywhere.
 */
import type { Argv } from 'yargs';
import { InputError } from './cli-support.ts';

interface Setting {
  readonly describe: string;
  /** As the help shows it. */
  readonly fallback: string;
  readonly takes: 'text' | 'flag' | 'list';
}

/** By flag; the other names follow from it. */
export const SETTINGS = {
  host: { takes: 'text', fallback: '127.0.0.1', describe: 'address to listen on' },
  port: { takes: 'text', fallback: '8080', describe: 'port; 0 takes a free one' },
  'data-dir': {
    takes: 'text',
    fallback: './var',
    describe: 'folder of the journal and its snapshots',
  },
  clock: {
    takes: 'text',
    fallback: 'wall',
    describe: 'wall, or virtual, which stands still until /sim/clock moves it',
  },
  durability: {
    takes: 'text',
    fallback: 'strict',
    describe:
      'strict, or relaxed: answers before the disk has it; a crash may lose the last moments',
  },
  'snapshot-every': {
    takes: 'text',
    fallback: '100000',
    describe: 'commands between snapshots; 0 writes one at shutdown only',
  },
  'secret-file': {
    takes: 'text',
    fallback: 'a random secret',
    describe:
      'file with the secret of tokens, at least 32 bytes; ORRERY_SECRET is the secret itself',
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
    describe: 'take signatures of orders and requests as given',
  },
  'verify-threads': {
    takes: 'text',
    fallback: 'one for each other core, at most 4',
    describe: 'threads that recover signers under load; 0: none',
  },
  'max-connections': {
    takes: 'text',
    fallback: '10000',
    describe: 'open connections, feeds among them; one more is answered 503',
  },
  'cors-origin': {
    takes: 'list',
    fallback: 'none',
    describe: 'origins whose pages may call, with commas between; * is any',
  },
  'security-headers': {
    takes: 'text',
    fallback: 'pages',
    describe: 'headers for browsers: on pages, on all answers, or off',
  },
  'trust-proxy': {
    takes: 'list',
    fallback: 'none',
    describe: 'addresses of proxies whose X-Forwarded-For is believed',
  },
  'log-level': {
    takes: 'text',
    fallback: 'warn',
    describe: 'of the logs on standard error; info has every request',
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as Name[];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly clock: 'wall' | 'virtual';
  readonly durability: 'strict' | 'relaxed';
  readonly snapshotEvery: number;
  readonly secretFile: string | null;
  readonly simToken: string | null;
  readonly operatorToken: string | null;
  readonly trustSignatures: boolean;
  /** null: as many as there are other cores, at most 4. */
  readonly verifyThreads: number | null;
  readonly maxConnections: number;
  readonly corsOrigins: readonly string[];
  readonly securityHeaders: 'pages' | 'all' | 'off';
  readonly trustProxy: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
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

/** What was given, and under which of its names. */
interface Given {
  readonly value: unknown;
  readonly called: string;
}

export interface SettingSources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The `server` section and the file that it is in. */
  readonly file: { readonly path: string; readonly server: unknown } | null;
}

/** Throws `InputError` naming the setting as it was given, and what it may be. */
export function readSettings(sources: SettingSources): ServeSettings {
  const section = sectionOf(sources.file);
  const given = (name: Name): Given | null => {
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
    const found = given(name);
    if (found === null) return null;
    // A flag that is given twice is a list.
    if (typeof found.value !== 'string') throw new InputError(`${found.called} must be given once`);
    if (found.value === '') throw new InputError(`${found.called} must not be empty`);
    return found.value;
  };
  const integer = (name: Name, least: number, most: number): number => {
    const digits = text(name) ?? SETTINGS[name].fallback;
    const number = /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
    if (number >= least && number <= most) return number;
    const range =
      most === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${String(least)}`
        : `from ${String(least)} to ${String(most)}`;
    throw new InputError(`${given(name)?.called ?? name} must be ${range}`);
  };
  const word = <T extends string>(name: Name, words: readonly T[]): T => {
    const found = text(name) ?? SETTINGS[name].fallback;
    const known = words.find((one) => one === found);
    if (known !== undefined) return known;
    throw new InputError(`${given(name)?.called ?? name} must be one of ${words.join(', ')}`);
  };
  const list = (name: Name): string[] => {
    const found = given(name);
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
  const flag = (name: Name): boolean => {
    const found = given(name);
    if (found === null) return false;
    if (typeof found.value === 'boolean') return found.value;
    if (found.value === 'true' || found.value === 'false') return found.value === 'true';
    throw new InputError(`${found.called} must be true or false`);
  };
  return {
    host: text('host') ?? SETTINGS.host.fallback,
    port: integer('port', 0, 65_535),
    dataDir: text('data-dir') ?? SETTINGS['data-dir'].fallback,
    clock: word('clock', ['wall', 'virtual']),
    durability: word('durability', ['strict', 'relaxed']),
    snapshotEvery: integer('snapshot-every', 0, Number.MAX_SAFE_INTEGER),
    secretFile: text('secret-file'),
    simToken: text('sim-token'),
    operatorToken: text('operator-token'),
    trustSignatures: flag('trust-signatures'),
    verifyThreads: given('verify-threads') === null ? null : integer('verify-threads', 0, 64),
    maxConnections: integer('max-connections', 1, 1_000_000),
    corsOrigins: list('cors-origin'),
    securityHeaders: word('security-headers', ['pages', 'all', 'off']),
    trustProxy: list('trust-proxy'),
    logLevel: word('log-level', LOG_LEVELS),
  };
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
