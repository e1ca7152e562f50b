import { countText } from '../../base/count-text.ts';
import type { CommandModule } from 'yargs';
import type { StreamManifest } from '../../tape/manifest.ts';
import { openDataset } from '../../tape-files/dataset-files.ts';
import { print, printJson } from '../cli-support.ts';

interface InfoArguments {
  readonly dataset: string;
  readonly json: boolean;
}

export const infoCommand: CommandModule<object, InfoArguments> = {
  command: 'info <dataset>',
  describe: 'Print the markets, streams and counts of a dataset',
  builder: (yargs) =>
    yargs
      .positional('dataset', { type: 'string', demandOption: true, describe: 'folder' })
      .option('json', { type: 'boolean', default: false, describe: 'print the manifest as JSON' })
      .example('$0 data info data/btcusdt-20240808', ''),
  handler: async ({ dataset, json }) => {
    const { manifest, markets } = await openDataset(dataset);
    if (json) {
      printJson(manifest);
      return;
    }
    for (const market of markets) {
      const { symbol, tickSize, lotSize, inverse } = market;
      print(
        `${symbol}: tick ${tickSize}, lot ${lotSize}` +
          (inverse ? ', coin-margined: book checks work, PnL is refused' : ''),
      );
      for (const stream of market.streams) say(stream);
    }
  },
};

function say(stream: StreamManifest): void {
  const time = (us: number): string => new Date(us / 1000).toISOString();
  const counts = Object.entries(stream.counts).map(([kind, count]) => `${String(count)} ${kind}`);
  print(`  ${stream.id} (${stream.format})`);
  print(`    from         ${time(stream.firstUs)} to ${time(stream.lastUs)}`);
  print(`    records      ${counts.join(', ')}; ${countText(stream.levels, 'level')}`);
  if (stream.contractSize !== undefined)
    print(`    sizes        contracts of ${stream.contractSize} in the files, base currency here`);
  print(`    parts        ${String(stream.parts.length)}`);
  print(`    gaps         ${String(stream.gaps)}`);
  for (const { fromUs, toUs, reason } of stream.gapList.slice(0, 10)) {
    print(`      ${time(fromUs)} to ${time(toUs)}: ${reason}`);
  }
  for (const { fromUs, toUs, reason } of stream.suspectedGaps?.slice(0, 10) ?? []) {
    print(`      ${time(fromUs)} to ${time(toUs)}: ${reason}`);
  }
  print(
    `    rows         ${String(stream.outOfOrder)} out of order, ${String(stream.duplicates)} repeated, ` +
      `${countText(stream.droppedUpdates, 'update')} dropped, ${countText(stream.skippedRows, 'bad row')} skipped`,
  );
  const { minFeedLatencyUs, maxFeedLatencyUs } = stream;
  print(
    `    feed latency ${String(minFeedLatencyUs / 1000)} to ${String(maxFeedLatencyUs / 1000)} ms` +
      (minFeedLatencyUs < 0 ? ' (negative: the recorder’s clock is behind the venue’s)' : ''),
  );
  if (stream.source !== '') print(`    source       ${stream.source}`);
  if (stream.licence !== '') print(`    licence      ${stream.licence}`);
}
