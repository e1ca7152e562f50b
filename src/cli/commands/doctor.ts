/**
 * `orrery doctor`: checks a host and a data folder, or the database of `--journal`, before `orrery
 * serve`, with the same settings.
 * It changes nothing, also while a server runs. Exit code 1 if the server would not run well.
 */
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { timeUs } from '../../num/units.ts';
import {
  EXIT,
  InputError,
  letSignalsEnd,
  print,
  printJson,
  setExitCode,
  stopIfInterrupted,
} from '../cli-support.ts';
import { readExchangeFile } from '../exchange-file.ts';
import { addOptions, readSettings, type ServeSettings } from '../serve-settings.ts';
import { fail, ok, type Finding } from '../doctor/finding.ts';
import { checkDatabase } from '../doctor/database-checks.ts';
import {
  checkDisk,
  checkJournal,
  checkLock,
  checkRights,
  type FolderFacts,
} from '../doctor/folder-checks.ts';
import {
  checkCores,
  checkMemory,
  checkNode,
  checkOpenFiles,
  checkPort,
  checkSecret,
} from '../doctor/host-checks.ts';

interface DoctorArguments extends Readonly<Record<string, unknown>> {
  readonly config: string | undefined;
  readonly full: boolean;
  readonly json: boolean;
}

export const command: CommandModule<object, DoctorArguments> = {
  command: 'doctor',
  builder: (yargs) =>
    addOptions(
      yargs
        .option('config', {
          type: 'string',
          default: process.env['ORRERY_CONFIG'],
          defaultDescription: 'none',
          describe: 'YAML file with `server`, as for orrery serve',
        })
        .option('full', {
          type: 'boolean',
          default: false,
          describe: 'replay the whole journal and compare every hash',
        })
        .option('json', { type: 'boolean', default: false, describe: 'results as JSON' }),
    )
      .epilogue('Settings, environment and file are those of orrery serve. Exit code 1: a failure.')
      .example('$0 doctor --config exchange.yaml', 'before the start of an exchange')
      .example('$0 doctor --data-dir ./copy --full', 'a backup, replayed'),
  handler: doctor,
};

async function doctor(args: DoctorArguments): Promise<void> {
  const findings: Finding[] = [checkNode()];
  const { settings, finding } = await readAll(args);
  findings.push(finding);
  const { host, port, metrics } = settings;
  const { snapshotBytes, ...stored } = await checkStore(settings, args.full);
  findings.push(...stored.findings, await checkPort('port', '--port', { host, port }));
  if (metrics.kind === 'port') {
    findings.push(await checkPort('metrics port', '--metrics-port', metrics));
  }
  findings.push(
    await checkSecret(settings),
    checkOpenFiles(settings.maxConnections),
    checkMemory(snapshotBytes),
    checkCores(),
  );
  const failed = findings.filter(({ verdict }) => verdict === 'fail').length;
  const warned = findings.filter(({ verdict }) => verdict === 'warn').length;
  if (args.json) printJson({ ok: failed === 0, failed, warned, findings });
  else {
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { verdict, check, found, advice } of findings) {
      print(`${verdict.padEnd(4)}  ${check.padEnd(width)}  ${found}`);
      if (advice !== null) print(`${' '.repeat(width + 8)}→ ${advice}`);
    }
    print(`${countText(failed, 'failure')}, ${countText(warned, 'warning')}`);
  }
  if (failed > 0) setExitCode(EXIT.failed);
}

/** Checks of the data folder, or of the database of `--journal`. */
async function checkStore(
  { dataDir, journal: shared, clock }: ServeSettings,
  full: boolean,
): Promise<FolderFacts> {
  const hasWallClock = clock === 'wall';
  const onFolder = shared === null ? [...checkRights(dataDir), await checkLock(dataDir)] : [];
  // A replay never returns to the event loop, and nothing from here on writes.
  letSignalsEnd(true);
  stopIfInterrupted();
  if (shared !== null) {
    return { findings: await checkDatabase(shared, full, hasWallClock), snapshotBytes: 0 };
  }
  const nowMs = hasWallClock ? Date.now() : null;
  const { findings, snapshotBytes } = checkJournal(dataDir, full, nowMs);
  return {
    findings: [...onFolder, checkDisk(dataDir), ...findings],
    snapshotBytes,
  };
}

/** The settings; those of the other sources if the file cannot be used. */
async function readAll(
  args: DoctorArguments,
): Promise<{ readonly settings: ServeSettings; readonly finding: Finding }> {
  const { config: path } = args;
  const given = { flags: args, environment: process.env };
  if (path === undefined) {
    return { settings: readSettings({ ...given, file: null }), finding: ok('settings', 'no file') };
  }
  try {
    const file = await readExchangeFile(path, timeUs(Date.now() * 1000));
    const settings = readSettings({ ...given, file: { path, server: file.server } });
    return { settings, finding: ok('settings', path) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const advice = 'mend the file; the checks below use the other settings';
    const finding = fail('settings', error.message, advice);
    try {
      return { settings: readSettings({ ...given, file: null }), finding };
    } catch {
      throw new InputError(error.message);
    }
  }
}
