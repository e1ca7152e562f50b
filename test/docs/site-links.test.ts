/** Links of the documentation site (`npm run docs`), whose build needs packages of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as links from '../../.ci/site/links.mjs';

const { deadLinks } = links as {
  readonly deadLinks: (folder: string, base?: string) => string[];
};

function siteOf(pages: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, html] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), html);
  }
  return folder;
}

test('finds links to pages and anchors that do not exist', () => {
  const folder = siteOf({
    'index.html': '<a href="/docs/a.html"></a><a href="/docs/none.html"></a><a href="docs/"></a>',
    'docs/index.html': '<a href="../index.html#none"></a><a href="https://example.org/#x"></a>',
    'docs/a.html': '<h1 id="a&amp;b"></h1><a href="#a%26b"></a><a href="#none"></a>',
  });
  expect(deadLinks(folder).sort()).toEqual([
    'docs/a.html -> #none',
    'docs/index.html -> ../index.html#none',
    'index.html -> /docs/none.html',
  ]);
});

test('links of a site below a path keep to the path', () => {
  const folder = siteOf({ 'index.html': '<a href="/base/"></a><a href="/index.html"></a>' });
  expect(deadLinks(folder, '/base/')).toEqual(['index.html -> /index.html']);
});
