/** Runs the shell script of a reproduction with the `orrery` command of a build. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShrinkReport } from '../../../src/fuzz/campaign.ts';
import { bundleWith } from '../../mutants/build.ts';
import type { SourceEdit } from '../../mutants/mutant.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/orrery/reproductions');

/** A server finds its pages by the imports of its package. */
function linkAssets(): void {
  const { imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;
  writeFileSync(join(CACHE, 'package.json'), JSON.stringify({ imports }));
  const dist = join(CACHE, 'dist');
  if (!existsSync(dist)) symlinkSync(join(ROOT, 'dist'), dist);
}

interface Package {
  readonly imports: Readonly<Record<string, unknown>>;
}

/** Builds of this process: a file of an earlier one may have other sources. */
const built = new Set<string>();

/** The command of a build, in one file. */
export async function commandOf(id: string, edits: readonly SourceEdit[]): Promise<string> {
  const main = join(CACHE, `${id}-main.mjs`);
  if (!built.has(id) || edits.length > 0) {
    built.add(id);
    mkdirSync(CACHE, { recursive: true });
    linkAssets();
    await bundleWith(join(ROOT, 'src/cli/main.ts'), main, id, edits);
  }
  return main;
}

/** Exit code of the script. */
export async function runScript(
  id: string,
  edits: readonly SourceEdit[],
  { files }: Pick<ShrinkReport, 'files'>,
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

/**
 * Exit code of the generated test, which starts a server of the build with the edits; `sound` has no
 * edits.
 */
export async function runHostTest(
  id: string,
  edits: readonly SourceEdit[],
  { files }: Pick<ShrinkReport, 'files'>,
): Promise<number | null> {
  const main = await commandOf(id, edits);
  const correct = await commandOf('sound', []);
  const folder = mkdtempSync(join(tmpdir(), 'orrery-host-test-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content);
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const commands = {
      ORRERY: `${process.execPath} ${main}`,
      FUZZ: `${process.execPath} ${correct}`,
    };
    return await new Promise((resolve) => {
      const child = spawn(process.execPath, [vitest, 'run', '--root', folder], {
        cwd: folder,
        env: { ...process.env, ...commands, URL: '' },
        stdio: 'ignore',
      });
      child.on('close', resolve);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
