import type { CommandModule } from 'yargs';
import { bookCommand } from '../data/print-book.ts';
import { importCommand } from '../data/import.ts';
import { infoCommand } from '../data/info.ts';
import { sampleCommand } from '../data/sample.ts';
import { verifyCommand } from '../data/verify.ts';

export const command: CommandModule = {
  command: 'data <action>',
  builder: (yargs) =>
    yargs
      .command(importCommand)
      .command(infoCommand)
      .command(verifyCommand)
      .command(bookCommand)
      .command(sampleCommand)
      .demandCommand(1, 'name an action: import, info, verify, book or sample'),
  handler: () => undefined,
};
