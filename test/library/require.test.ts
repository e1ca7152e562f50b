/** A CommonJS program loads every entry of the built package by `require`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
};
const entries = Object.keys(exports)
  .filter((entry) => !entry.endsWith('.json'))
  .map((entry) => `orrery${entry.slice(1)}`);

describe('an entry of the package', () => {
  test.each(entries)('%s is loaded by require', (entry) => {
    const script = `console.log(Object.keys(require(${JSON.stringify(entry)})).length)`;
    const args = ['--input-type=commonjs', '--eval', script];
    expect(Number(execFileSync(process.execPath, args, { cwd: ROOT }))).toBeGreaterThan(0);
  });
});
