/**
 * Copies the scripts and styles of pages from development dependencies to `dist/assets`, with their
 * licences, so that an installation needs none of those packages. Skips files that are up to date.
 * Builds pages that are missing; `.ci/web.mjs` builds them again. Links the engine of a new build,
 * and bundles the script of its realms.
 */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkIfChanged } from './link.mjs';
import { programIfChanged } from './program.mjs';
import { realmIfChanged } from './realm.mjs';
import { buildPages, buildScreen, PAGE, SCREEN } from './web.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** File of `dist/assets`, and where it is in `node_modules`. */
const ASSETS = {
  'lightweight-charts.js': 'lightweight-charts/dist/lightweight-charts.standalone.production.js',
  'lightweight-charts.LICENSE': 'lightweight-charts/LICENSE',
  'uplot.js': 'uplot/dist/uPlot.iife.min.js',
  'uplot.css': 'uplot/dist/uPlot.min.css',
  'uplot.LICENSE': 'uplot/LICENSE',
  'swagger-ui.js': '@fastify/swagger-ui/static/swagger-ui-bundle.js',
  'swagger-ui.css': '@fastify/swagger-ui/static/swagger-ui.css',
};

/** Also the global setup of vitest, which runs sources that are not compiled. */
export async function setup() {
  const folder = join(ROOT, 'dist', 'assets');
  mkdirSync(folder, { recursive: true });
  for (const [name, source] of Object.entries(ASSETS)) {
    const from = join(ROOT, 'node_modules', source);
    const to = join(folder, name);
    if (!existsSync(to) || statSync(to).mtimeMs < statSync(from).mtimeMs) copyFileSync(from, to);
  }
  if (!existsSync(PAGE)) await buildPages();
  if (!existsSync(SCREEN)) await buildScreen();
  await linkIfChanged();
  await realmIfChanged();
  await programIfChanged();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
