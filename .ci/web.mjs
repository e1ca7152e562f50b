/**
 * Builds the pages of `src/web`, each one HTML file with its style and script, compressed to
 * `dist/assets`: the time machine with the script of its worker, to which `orrery inspect` adds the
 * journal, and the screen that `orrery serve` shows at /ui. Nothing is loaded from elsewhere, and
 * the security policy names the script by its hash.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const WEB = join(ROOT, 'src', 'web');
export const PAGE = join(ROOT, 'dist', 'assets', 'time-machine.html.gz');
export const SCREEN = join(ROOT, 'dist', 'assets', 'exchange.html.gz');

/** An entry and all that it imports as one script. */
async function bundle(entry, plugins = []) {
  // Loaded late: most commands find the page built.
  const { build } = await import('vite');
  const built = await inProduction(() =>
    build({
      root: WEB,
      configFile: false,
      envFile: false,
      logLevel: 'error',
      publicDir: false,
      plugins,
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        write: false,
        // Profiles name functions as the source does.
        minify: process.env.ORRERY_READABLE !== '1',
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: { input: join(WEB, entry), output: { format: 'iife' } },
      },
    }),
  );
  const { code } = [built].flat()[0].output.find(({ type }) => type === 'chunk');
  return safe(code);
}

/**
 * Vite reads NODE_ENV. Under another one, such as that of a test runner, the page would have code
 * for development and the path of each source.
 */
async function inProduction(work) {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await work();
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

/** Script text that neither closes its element nor opens a comment. */
const safe = (text) => text.replace(/<(?=\/script|script)/gi, '\\x3c').replace(/<!--/g, '\\x3c!--');

const policyOf = (script, connect) =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/** The page without data; `embed-journal.ts` of the command inserts them before the script. */
export function htmlOf(script, worker) {
  const policy = policyOf(script, "'none'");
  return `<!doctype html>
<html lang="en" data-policy="${policy}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Time machine · Orrery</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="page"></div>
<script type="text/plain" id="worker">${worker}</script>
<!--journal-->
<script id="script">${script}</script>
</body>
</html>
`;
}

/** The screen of a server; it connects to that server only. */
function screenOf(script) {
  const policy = policyOf(script, "'self'").replace('; worker-src blob:', '');
  return `<!doctype html>
<html lang="en" data-policy="${policy}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Orrery</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="page"></div>
<script>${script}</script>
</body>
</html>
`;
}

/** Returns its compressed size. */
export async function buildScreen() {
  const html = gzipSync(screenOf(await bundle('exchange/page.tsx')), { level: 9 });
  mkdirSync(dirname(SCREEN), { recursive: true });
  writeFileSync(SCREEN, html);
  return html.length;
}

/** `plugins`: of the build of the worker, which a test gives a fault of the engine. */
export async function machineHtml(plugins = []) {
  const [script, worker] = [
    await bundle('time-machine/page.tsx'),
    await bundle('time-machine/worker.ts', plugins),
  ];
  return htmlOf(script, worker);
}

export async function buildPages() {
  mkdirSync(dirname(PAGE), { recursive: true });
  const html = gzipSync(await machineHtml(), { level: 9 });
  writeFileSync(PAGE, html);
  return html.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`web: time-machine.html.gz ${((await buildPages()) / 1000).toFixed(0)} kB`);
  console.log(`web: exchange.html.gz ${((await buildScreen()) / 1000).toFixed(0)} kB`);
}
