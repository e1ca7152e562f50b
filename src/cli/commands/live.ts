/**
 * `orrery live`: runs a strategy file against an exchange with this API, in real time or on the
 * clock of a replay.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { parseParameters } from '../../strategy/definition.ts';
import { HttpMatcherClient } from '../../http-client/http-matcher-client.ts';
import { parseDuration } from '../../num/time-text.ts';
import { bundleStrategy } from '../../strategy-loader/bundle.ts';
import { withPlace } from '../../strategy-loader/fault-place.ts';
import { mustHaveMoney } from '../../live/exchange-facts.ts';
import { EndableFetch } from '../../live/endable-fetch.ts';
import { countsOf } from '../../live/live-counts.ts';
import type { LiveRecord, LiveRecorder } from '../../live/live-record.ts';
import { LiveRun, type LiveOptions } from '../../live/live-run.ts';
import { ReplayRun } from '../../live/replay-run.ts';
import type { ReplayStatus } from '../../live/replay-options.ts';
import { deposit, readReplay } from '../../live/sim-client.ts';
import { claimFolder, removeRun } from '../../run-plan/run-folder.ts';
import { DEFAULT_LATENCY } from '../../run-plan/models.ts';
import { uniqueId } from '../../run-plan/strategy-id.ts';
import { watchPromises } from '../../strategy-loader/promise-watch.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { fileError } from '../../platform/file-error.ts';
import { KeyWallet } from '../../wallet/key-wallet.ts';
import {
  InputError,
  isInterrupted,
  mustBeWhole,
  print,
  printError,
  printJson,
  startProgress,
  watchInterrupt,
} from '../cli-support.ts';
import {
  HANDLER_LIMIT_OPTION,
  limitHandlers,
  type HandlerLimitArguments,
} from '../handler-limit.ts';
import { LiveFile } from '../live-file.ts';
import { lengthOf, timeOf } from '../run-options.ts';
import { checkTypesOf, TYPE_CHECK_OPTION, type TypeCheckArguments } from '../type-check.ts';
import { parametersOf } from '../strategy-parameters.ts';

interface LiveArguments extends HandlerLimitArguments, TypeCheckArguments {
  readonly strategy: string;
  readonly url: string;
  readonly 'key-file': string | undefined;
  readonly account: string | undefined;
  readonly subaccount: number;
  readonly markets: readonly string[] | undefined;
  readonly param: readonly string[] | undefined;
  readonly seed: string;
  readonly for: string | undefined;
  readonly out: string | undefined;
  readonly overwrite: boolean;
  readonly 'sim-token': string | undefined;
  readonly deposit: string | undefined;
  readonly latency: string | undefined;
  readonly from: string | undefined;
  readonly 'warm-up': string | undefined;
  readonly sample: string | undefined;
  readonly json: boolean;
}

/** Options that a run in real time does not have. */
const OF_REPLAY = ['latency', 'from', 'warm-up', 'sample'] as const;

const POLL_MS = 100;
const LIVE_FILE = 'live.json';

export const command: CommandModule<object, LiveArguments> = {
  command: 'live <strategy>',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', demandOption: true, describe: 'strategy file' })
      .option('url', {
        type: 'string',
        demandOption: true,
        describe: 'URL of the exchange, such as http://127.0.0.1:8080',
      })
      .option('key-file', {
        type: 'string',
        describe: 'file with the private key of the signing wallet; or set ORRERY_KEY',
      })
      .option('account', {
        type: 'string',
        describe: 'account to trade for as a delegate; default: the wallet’s own',
      })
      .option('subaccount', { type: 'number', default: 0, describe: 'index of the subaccount' })
      .option('markets', {
        type: 'string',
        array: true,
        describe: 'symbols of the markets; default: all',
      })
      .option('param', {
        type: 'string',
        array: true,
        describe: 'parameter of the strategy, name=value',
      })
      .option('seed', {
        type: 'string',
        default: '1',
        describe: 'seed of the strategy’s random numbers',
      })
      .option('for', {
        type: 'string',
        describe: 'stop after this duration; default: until Ctrl-C, or the end of a replay',
      })
      .option('sim-token', {
        type: 'string',
        default: process.env['ORRERY_SIM_TOKEN'],
        defaultDescription: 'none',
        describe:
          '--sim-token of the exchange: for --deposit, and to move a replay on a virtual clock',
      })
      .option('deposit', {
        type: 'string',
        describe: 'amount to deposit before the run (needs --sim-token)',
      })
      .option('latency', {
        type: 'string',
        defaultDescription: DEFAULT_LATENCY,
        describe: 'latency model in a replay on a virtual clock, as in a backtest',
      })
      .option('from', { type: 'string', describe: 'start of trading in such a replay' })
      .option('warm-up', {
        type: 'string',
        describe: 'time before trading starts in such a replay',
      })
      .option('sample', {
        type: 'string',
        describe: 'interval between samples of the equity in such a replay',
      })
      .options(HANDLER_LIMIT_OPTION)
      .options(TYPE_CHECK_OPTION)
      .option('out', {
        type: 'string',
        describe: 'output folder for live.json (orders, fills, log)',
      })
      .option('overwrite', {
        type: 'boolean',
        default: false,
        describe: 'replace an earlier run in the output folder',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print the record as JSON' })
      .example(
        '$0 live my.ts --url http://127.0.0.1:8080 --key-file key --for 10m --out live/my',
        '',
      )
      .example(
        '$0 live my.ts --url http://127.0.0.1:8080 --sim-token dev --deposit 10000 --out live/my',
        'a replay on a virtual clock, which equals a backtest',
      )
      .example('$0 compare live/my reports/my', 'compare with a backtest of the same period'),
  handler: async (options) => {
    process.env['TZ'] = 'UTC';
    const lasting = options.for === undefined ? null : parseDuration(options.for);
    if (options.for !== undefined && (lasting === null || lasting === 0)) {
      throw new InputError(`--for '${options.for}': must be a duration such as 10m`);
    }
    mustBeWhole('subaccount', options.subaccount, 0, 2 ** 31 - 1);
    if (options.account !== undefined && !/^0x[0-9a-f]{40}$/i.test(options.account)) {
      throw new InputError(`--account '${options.account}': must be 0x and 40 hex digits`);
    }
    const signer = await readWallet(options['key-file']);
    limitHandlers(options);
    const bundle = await bundleStrategy(options.strategy);
    await checkTypesOf([[options.strategy, bundle]], options);
    const { definition, bindClock } = loadStrategy(bundle);
    const parameters = parseParameters(definition.parameters, parametersOf(options.param ?? []));
    const account = options.account?.toLowerCase() ?? signer.address;
    const requests = new EndableFetch();
    const { fetch } = requests;
    const client = new HttpMatcherClient({ url: options.url, signer, account, fetch });
    const { out, overwrite } = options;
    // Before money is deposited and orders are sent, so that no record is lost.
    const claim = out === undefined ? null : await claimFolder(out, overwrite);
    const status = await prepare(options, client, account).catch((error: unknown) => {
      claim?.release();
      throw error;
    });
    if (out !== undefined && overwrite) await removeRun(out);
    const stop = new AbortController();
    const endMs =
      lasting === null || status !== null ? Infinity : performance.now() + lasting / 1000;
    watchInterrupt();
    const poll = setInterval(() => {
      if (isInterrupted() || performance.now() >= endMs) stop.abort();
    }, POLL_MS);
    if (!options.json) {
      printError(`${definition.name} on ${options.url} as ${account}; Ctrl-C stops it`);
    }
    const live = {
      definition,
      bindClock,
      bundle: bundle.sha256,
      parameters,
      client,
      account,
      subaccountIndex: options.subaccount,
      symbols: options.markets ?? null,
      seed: options.seed,
      stop: stop.signal,
      onLog: (text: string) => {
        if (options.json) return;
        // A reader that is gone must not end the run without its record.
        print(text, () => {
          stop.abort();
        });
      },
      onWarning: printError,
    };
    try {
      const record =
        status === null
          ? await recorded(new LiveRun(live), options)
          : await replayed(live, status, options, lasting ?? Infinity);
      report(record, options);
    } catch (error) {
      throw withPlace(error, [{ id: definition.name, bundle }]);
    } finally {
      requests.end();
      clearInterval(poll);
      claim?.release();
    }
  },
};

/** Runs to the end. The record is in the output folder then, also that of a run that fails. */
async function recorded(run: LiveRecorder, { out }: LiveArguments): Promise<LiveRecord> {
  const file = out === undefined ? null : new LiveFile(join(out, LIVE_FILE), run);
  let record: LiveRecord;
  try {
    record = await run.complete();
  } catch (error) {
    await file?.end(run.record((error as Error).message)).catch((failure: unknown) => {
      printError(`orrery: the record is lost: ${(failure as Error).message}`);
    });
    throw error;
  }
  await file?.end(record);
  return record;
}

/** Deposits, and returns the status of a replay on a virtual clock; null in real time. */
async function prepare(
  options: LiveArguments,
  client: HttpMatcherClient,
  account: string,
): Promise<ReplayStatus | null> {
  const { url, deposit: amount, subaccount } = options;
  const token = options['sim-token'];
  if (amount !== undefined && token === undefined) {
    throw new InputError('--deposit needs the --sim-token of the exchange');
  }
  const access = token === undefined ? null : { url, token };
  const status = access === null ? null : await readReplay(access);
  const driven = status?.speed === null ? status : null;
  for (const name of OF_REPLAY) {
    if (options[name] === undefined || driven !== null) continue;
    throw new InputError(
      `--${name} applies to a replay on a virtual clock; give the --sim-token of an exchange with --replay and --clock virtual`,
    );
  }
  if (access !== null && amount !== undefined) await deposit(access, account, subaccount, amount);
  await mustHaveMoney(client, account, subaccount);
  return driven;
}

/** `lasting`: of the exchange's time, µs. */
async function replayed(
  live: LiveOptions & { readonly bundle: string },
  status: ReplayStatus,
  options: LiveArguments,
  lasting: number,
): Promise<LiveRecord> {
  const { from, sample, latency = DEFAULT_LATENCY } = options;
  const warmUp = options['warm-up'];
  const promises = watchPromises();
  const progress = startProgress('live', options.json);
  try {
    const run = new ReplayRun({
      ...live,
      status,
      simToken: options['sim-token'] ?? '',
      id: uniqueId(basename(options.strategy), []),
      latency,
      promises,
      tradeFromUs: from === undefined ? null : timeOf('from', from),
      warmUpUs: warmUp === undefined ? null : lengthOf('warm-up', warmUp, 0),
      sampleUs: sample === undefined ? null : lengthOf('sample', sample, 1000),
      untilUs: status.timeUs + lasting,
      onProgress: (fraction) => {
        progress.update(fraction);
      },
    });
    return await recorded(run, options);
  } finally {
    progress.stop();
    promises.stop();
  }
}

function report(record: LiveRecord, { out, json }: LiveArguments): void {
  if (json) {
    printJson(record);
    return;
  }
  const { accepted, rejected, unanswered, open } = countsOf(record);
  const parts = [
    countText(accepted, 'order'),
    `${String(rejected)} rejected`,
    ...(unanswered === 0 ? [] : [`${String(unanswered)} without an answer`]),
    countText(record.fills.length, 'fill'),
  ];
  print(`${parts.join(', ')} in ${((record.endedUs - record.startedUs) / 1e6).toFixed(1)} s`);
  if (open > 0 && record.clock === 'wall') {
    print(`open     ${countText(open, 'order')} of this run, which the exchange keeps`);
  }
  const gaps = record.gaps?.length ?? 0;
  if (gaps > 0) print(`lost connections with missing fills: ${String(gaps)}`);
  if (out !== undefined) print(`record   ${join(out, LIVE_FILE)}`);
}

async function readWallet(file: string | undefined): Promise<KeyWallet> {
  const text =
    file === undefined
      ? process.env['ORRERY_KEY']
      : await readFile(file, 'utf8').catch((error: unknown) => {
          throw fileError(file, error);
        });
  if (text === undefined) {
    throw new InputError('give the private key of the signing wallet by --key-file or ORRERY_KEY');
  }
  const wallet = KeyWallet.ofHex(text.trim());
  if (wallet === null) {
    throw new InputError(`${file ?? 'ORRERY_KEY'}: not a private key; it is 0x and 64 hex digits`);
  }
  return wallet;
}
