/** Options of commands whose work may run on workers elsewhere, over PostgreSQL. */
import { join } from 'node:path';
import { stateFolder } from '../../platform/state-folder.ts';
import { InputError, mustBeWhole } from '../cli-support.ts';

export interface RemoteArguments {
  readonly pg: string | undefined;
  readonly attach: string | undefined;
  readonly detach: boolean;
  readonly priority: number | undefined;
}

export interface UploadArguments {
  readonly upload: boolean;
}

export const PG_OPTION = {
  pg: {
    type: 'string',
    describe: 'database of the campaigns, postgres://…; default: ORRERY_PG with workers elsewhere',
  },
} as const;

/** Of the priority of a campaign, above and below 0. */
export const MOST_PRIORITY = 1_000_000;

export const REMOTE_OPTIONS = {
  pg: {
    type: 'string',
    describe: 'run on the workers of this database (orrery worker), postgres://…; empty: ORRERY_PG',
  },
  attach: {
    type: 'string',
    describe: 'with --pg: show and report the campaign with this id instead of a new one',
  },
  detach: {
    type: 'boolean',
    default: false,
    describe: 'with --pg: submit and end',
  },
  priority: {
    type: 'number',
    describe: 'with --pg: campaigns with a higher one run first [0]',
  },
} as const;

export const UPLOAD_OPTION = {
  upload: {
    type: 'boolean',
    default: true,
    describe: 'with --pg: send the data; otherwise workers have them (orrery worker --data)',
  },
} as const;

/** Whether the work runs elsewhere. Throws `InputError` for options that need `--pg`. */
export function isRemote(options: RemoteArguments & Partial<UploadArguments>): boolean {
  mustBeWhole('priority', options.priority, -MOST_PRIORITY, MOST_PRIORITY);
  if (options.pg !== undefined) return true;
  const { attach, detach, priority, upload = true } = options;
  if (attach !== undefined) throw new InputError('--attach needs --pg');
  if (detach) throw new InputError('--detach needs --pg');
  if (priority !== undefined) throw new InputError('--priority needs --pg');
  if (!upload) throw new InputError('--no-upload needs --pg');
  return false;
}

/** `--pg`, or the environment: a password is visible in a list of processes. */
export function addressOf(pg: string | undefined): string {
  const address = pg === undefined || pg === '' ? process.env['ORRERY_PG'] : pg;
  if (address === undefined || address === '') {
    throw new InputError('name a database: --pg postgres://…, or ORRERY_PG');
  }
  return address;
}

/** Folder of files that came from the database. */
export function cacheFolder(cache: string | undefined): string {
  return cache ?? join(stateFolder(process.env), 'files');
}

/** Columns of an id in messages. */
const SHOWN_DIGITS = 12;

export function shownId(id: string): string {
  return id.slice(0, SHOWN_DIGITS);
}
