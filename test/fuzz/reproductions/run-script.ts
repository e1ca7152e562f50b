/** Runs the shell script of a reproduction with the `orrery` command of a build. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ShrinkReport } from '../../../src/fuzz/campaign.ts';
import { bundleWith } from '../../mutants/build.ts';
import type { SourceEdit } from '../../mutants/mutant.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/orrery/reproductions');

/** The command of a build, in one file. */
async function commandOf(id: string, edits: readonly SourceEdit[]): Promise<string> {
  const main = join(CACHE, `${id}-main.mjs`);
  if (!existsSync(main) || edits.length > 0) {
    mkdirSync(CACHE, { recursive: true });
    await bundleWith(join(ROOT, 'src/cli/main.ts'), main, id, edits);
  }
  return main;
}

/** The output of the command of a new build. */
export async function runCommand(id: string, args: readonly string[]): Promise<string> {
  rmSync(join(CACHE, `${id}-main.mjs`), { force: true });
  const { stdout } = await promisify(execFile)(process.execPath, [
    await commandOf(id, []),
    ...args,
  ]);
  return stdout;
}

/** Exit code of the script. */
export async function runScript(
  id: string,
  edits: readonly SourceEdit[],
  { files }: ShrinkReport,
): Promise<number | null> {
  const main = await commandOf(id, edits);
  const folder = mkdtempSync(join(tmpdir(), 'orrery-script-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content);
    }
    return await new Promise((resolve) => {
      const child = spawn('bash', ['requests.sh'], {
        cwd: folder,
        env: { ...process.env, ORRERY: `${process.execPath} ${main}`, URL: '' },
        stdio: 'ignore',
      });
      child.on('close', resolve);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
