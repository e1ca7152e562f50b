import { expect, test } from 'vitest';
import { COMMANDS, COMPLETION, parserOf } from '../../src/cli/main.ts';
import { programHelp } from '../../src/cli/program-help.ts';

test('the help of the program is that of yargs', async () => {
  const parser = await parserOf(['--help']);
  expect(programHelp([COMPLETION, ...COMMANDS])).toBe(await parser.getHelp());
});
