/** `orrery live`: runs a strategy file against an exchange with this API in real time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { parseParameters } from '../../strategy/definition.ts';
import { HttpMatcherClient } from '../../http-client/http-matcher-client.ts';
import { parseDuration } from '../../num/time-text.ts';
import { bundleStrategy } from '../../strategy-loader/bundle.ts';
import { withPlace } from '../../strategy-loader/fault-place.ts';
import { runLive, type LiveRecord } from '../../live/live-run.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { fileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { KeyWallet } from '../../wallet/key-wallet.ts';
import {
  InputError,
  isInterrupted,
  mustBeWhole,
  print,
  printError,
  printJson,
} from '../cli-support.ts';
import { parametersOf } from '../strategy-parameters.ts';

interface LiveArguments {
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
  readonly json: boolean;
}

const POLL_MS = 100;

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
        describe: 'stop after this duration; default: until Ctrl-C',
      })
      .option('out', {
        type: 'string',
        describe: 'output folder for live.json (orders, fills, log)',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print the record as JSON' })
      .example(
        '$0 live my.ts --url http://127.0.0.1:8080 --key-file key --for 10m --out live/my',
        '',
      )
      .example('$0 compare live/my reports/my', 'compare with a backtest of the same period'),
  handler: async (options) => {
    process.env['TZ'] = 'UTC';
    const lasting = options.for === undefined ? null : parseDuration(options.for);
    if (options.for !== undefined && (lasting === null || lasting === 0)) {
      throw new InputError(`--for '${options.for}': must be a duration such as 10m`);
    }
    mustBeWhole('subaccount', options.subaccount, 0, 2 ** 31 - 1);
    const signer = await readWallet(options['key-file']);
    const bundle = await bundleStrategy(options.strategy);
    const { definition, bindClock } = loadStrategy(bundle);
    const parameters = parseParameters(definition.parameters, parametersOf(options.param ?? []));
    const account = options.account?.toLowerCase() ?? signer.address;
    const client = new HttpMatcherClient({ url: options.url, signer, account });
    // Before orders are sent, so that an unwritable folder loses no records.
    if (options.out !== undefined) await makeFolder(options.out);
    const stop = new AbortController();
    const endMs = lasting === null ? Infinity : Date.now() + lasting / 1000;
    const poll = setInterval(() => {
      if (isInterrupted() || Date.now() >= endMs) stop.abort();
    }, POLL_MS);
    if (!options.json) {
      printError(`${definition.name} on ${options.url} as ${account}; Ctrl-C stops it`);
    }
    try {
      const record = await runLive({
        definition,
        bindClock,
        parameters,
        client,
        account,
        subaccountIndex: options.subaccount,
        symbols: options.markets ?? null,
        seed: options.seed,
        stop: stop.signal,
        onLog: (text) => {
          if (!options.json) print(text);
        },
      }).catch((error: unknown) => {
        throw withPlace(error, [{ id: definition.name, bundle }]);
      });
      await report(record, options);
    } finally {
      clearInterval(poll);
    }
  },
};

async function report(record: LiveRecord, { out, json }: LiveArguments): Promise<void> {
  if (out !== undefined) {
    await writeWholeFile(join(out, 'live.json'), Buffer.from(`${JSON.stringify(record)}\n`));
  }
  if (json) {
    printJson(record);
    return;
  }
  const placed = record.orders.filter(({ order }) => order !== null).length;
  print(
    `${String(placed)} orders, ${String(record.orders.length - placed)} rejected, ${String(record.fills.length)} fills in ${((record.endedUs - record.startedUs) / 1e6).toFixed(1)} s`,
  );
  if (out !== undefined) print(`record   ${join(out, 'live.json')}`);
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
