/**
 * `orrery operator`: runs operator commands against a served exchange (`orrery serve
 * --operator-token`).
 */
import type { CommandModule } from 'yargs';
import { EXIT, InputError, print, printError, printJson, setExitCode } from '../cli-support.ts';

const ACTIONS = [
  'list',
  'terms',
  'status',
  'delist',
  'credit-insurance',
  'deposit',
  'withdraw',
  'audit',
] as const;
type Action = (typeof ACTIONS)[number];

interface OperatorArguments {
  readonly action: Action;
  readonly symbol: string | undefined;
  readonly set: readonly string[] | undefined;
  readonly url: string;
  readonly token: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** Endpoint of each action, and whether it takes a market. */
const ROUTES: Readonly<Record<Action, { readonly path: string; readonly ofMarket: boolean }>> = {
  list: { path: 'markets', ofMarket: false },
  terms: { path: 'terms', ofMarket: true },
  status: { path: 'status', ofMarket: true },
  delist: { path: 'delist', ofMarket: true },
  'credit-insurance': { path: 'insurance/credit', ofMarket: false },
  deposit: { path: 'deposit', ofMarket: false },
  withdraw: { path: 'withdraw', ofMarket: false },
  audit: { path: 'audit', ofMarket: false },
};

const WITHOUT_FIELDS: readonly Action[] = ['delist', 'audit'];

const TIMEOUT_MS = 30_000;

export const command: CommandModule<object, OperatorArguments> = {
  command: 'operator <action> [symbol]',
  builder: (yargs) =>
    yargs
      .positional('action', { choices: ACTIONS, demandOption: true, describe: 'operator action' })
      .positional('symbol', { type: 'string', describe: 'market, for terms, status and delist' })
      .option('set', {
        type: 'string',
        array: true,
        describe: 'request field, name=value; nested: funding.cap=0.01',
      })
      .option('url', {
        type: 'string',
        default: 'http://127.0.0.1:8080',
        describe: 'URL of the exchange',
      })
      .option('token', {
        type: 'string',
        default: process.env['ORRERY_OPERATOR_TOKEN'],
        defaultDescription: 'ORRERY_OPERATOR_TOKEN',
        describe: 'operator token of the exchange',
      })
      .option('limit', {
        type: 'number',
        default: 100,
        describe: 'max entries of audit, up to 1000',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print audit as JSON' })
      .example('$0 operator status BTC-USD-PERP --set status=reduceOnly', '')
      .example('$0 operator terms BTC-USD-PERP --set takerFee=0.0005', '')
      .example('$0 operator credit-insurance --set amount=100000', '')
      .example(
        '$0 operator deposit --set account=0x… --set amount=500 --set reference=wire-17',
        'repeated with this reference, it is made once',
      )
      .example('$0 operator audit --limit 20', ''),
  handler: async (options) => {
    const { action, symbol, json } = options;
    const route = ROUTES[action];
    if (route.ofMarket !== (symbol !== undefined)) {
      const wants = route.ofMarket ? 'requires a symbol' : 'does not take a symbol';
      throw new InputError(`operator ${action} ${wants}`);
    }
    if (options.token === undefined) {
      throw new InputError('operator: give --token, or set ORRERY_OPERATOR_TOKEN');
    }
    if (!WITHOUT_FIELDS.includes(action) && options.set === undefined) {
      throw new InputError(`operator ${action} requires --set name=value`);
    }
    const path =
      symbol === undefined ? route.path : `markets/${encodeURIComponent(symbol)}/${route.path}`;
    const url = `${options.url.replace(/\/+$/, '')}/operator/${path}`;
    const answer =
      action === 'audit'
        ? await send(`${url}?limit=${String(options.limit)}`, options.token, null)
        : await send(url, options.token, bodyOf(options.set ?? []));
    if (answer.status !== 200) {
      printError(`operator ${action}: ${answer.text}`);
      setExitCode(EXIT.failed);
      return;
    }
    if (action !== 'audit') print(`operator ${action}: done`);
    else if (json) printJson(JSON.parse(answer.text));
    else for (const line of auditLines(JSON.parse(answer.text))) print(line);
  },
};

/**
 * Parses `a=1` and `b.c=2` to `{a: "1", b: {c: "2"}}`; a JSON value (a list of tiers) is parsed as
 * JSON.
 */
function bodyOf(settings: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const setting of settings) {
    const [, name, text] = /^([A-Za-z.]+)=(.*)$/s.exec(setting) ?? [];
    if (name === undefined || text === undefined) {
      throw new InputError(`--set ${setting}: must be name=value`);
    }
    const parts = name.split('.');
    const last = parts.pop() ?? '';
    let at = body;
    for (const part of parts) {
      const next = Object.hasOwn(at, part) ? at[part] : {};
      if (typeof next !== 'object' || next === null) {
        throw new InputError(`--set ${setting}: ${part} is already set to a value`);
      }
      at[part] = next;
      at = next as Record<string, unknown>;
    }
    if (Object.hasOwn(at, last)) {
      throw new InputError(`--set ${setting}: ${name} is given twice`);
    }
    at[last] = valueOf(setting, text);
  }
  return body;
}

function valueOf(setting: string, text: string): unknown {
  if (text === 'null') return null;
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError(`--set ${setting}: is not valid JSON`);
  }
}

async function send(
  url: string,
  token: string,
  body: Record<string, unknown> | null,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  try {
    const response = await fetch(url, {
      ...(body === null
        ? { headers: { authorization: headers.authorization } }
        : { method: 'POST', headers, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const repeated =
      body?.['reference'] === undefined
        ? 'operator audit shows it'
        : 'repeat the command, and it is done once';
    const after = body === null ? '' : `; it may have been done: ${repeated}`;
    throw new InputError(`operator: ${url} does not respond: ${(error as Error).message}${after}`);
  }
}

function auditLines(entries: unknown): readonly string[] {
  if (!Array.isArray(entries)) return [];
  const rows: readonly Record<string, unknown>[] = entries;
  return rows.map((entry) => {
    const { sequenceNumber, time, command: kind, ...rest } = entry;
    const fields = Object.entries(rest).filter(([, value]) => value !== null);
    const when = new Date(Number(time)).toISOString();
    return `${String(sequenceNumber)}  ${when}  ${String(kind)}  ${fields
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')}`;
  });
}
