/**
 * Help of the program itself, as yargs prints it. Loading yargs takes longer than the rest of
 * `orrery --help`.
 */
const WIDTH = 100;
const OPTIONS = [
  ['      --version', 'Show version number'],
  ['  -h, --help', 'Show help'],
] as const;

interface Described {
  readonly usage: string;
  readonly describe: string;
}

/** A test compares it with the help of yargs. */
export function programHelp(commands: readonly Described[]): string {
  const lefts = commands.map(({ usage }) => `  orrery ${usage}`);
  const column = Math.max(...lefts.map((left) => left.length)) + 2;
  const rows = commands.flatMap(({ describe }, i) =>
    wrapped(describe, WIDTH - column).map(
      (line, nth) => `${(nth === 0 ? (lefts[i] ?? '') : '').padEnd(column)}${line}`,
    ),
  );
  const options = OPTIONS.map(([left, text]) => {
    const start = `${left.padEnd(17)}${text}`;
    return `${start}${'[boolean]'.padStart(WIDTH - start.length)}`;
  });
  return ['orrery <command> [options]', '', 'Commands:', ...rows, '', 'Options:', ...options].join(
    '\n',
  );
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
