/** Settings of the site; build.mjs writes its pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { ICON_URL } from '../../../src/design/icon.ts';
import { anchorOf } from '../links.mjs';

const site = join(import.meta.dirname, '..');
const pages = join(site, 'pages');

/** Documents by subject. A document in no group is an error. */
const GROUPS = {
  Start: ['index', 'docs/TUTORIAL', 'docs/CLI', 'docs/LIBRARY', 'docs/PYTHON', 'docs/GLOSSARY'],
  Backtests: ['docs/BACKTESTING', 'docs/DATA', 'docs/SEARCH', 'docs/METRICS'],
  Tests: ['docs/SCENARIOS', 'docs/FUZZING', 'docs/TIME-MACHINE'],
  Server: ['docs/API', 'docs/SCREEN', 'docs/OPERATIONS', 'docs/SCALING'],
  Exchange: ['docs/RULES', 'docs/ORDER-STATES', 'docs/REJECTIONS', 'docs/RISK'],
  Project: [
    ...['docs/ARCHITECTURE', 'docs/DETERMINISM', 'docs/PERFORMANCE', 'docs/DEPENDENCIES'],
    ...['CONTRIBUTING', 'CHANGELOG'],
  ],
};

const pagesIn = (folder) =>
  readdirSync(join(pages, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name.slice(0, -3)));

function item(page) {
  const title = /^# (.*)$/m.exec(readFileSync(join(pages, `${page}.md`), 'utf8'))?.[1] ?? page;
  return { text: title, link: `/${page}` };
}

function guide() {
  const grouped = Object.values(GROUPS).flat();
  const missing = [...pagesIn('.'), ...pagesIn('docs')].filter(
    (page) => page !== 'examples' && !grouped.includes(page),
  );
  if (missing.length > 0) {
    throw new Error(`no group of .ci/site/.vitepress/config.mjs has ${missing.join(', ')}`);
  }
  const decisions = pagesIn('docs/decisions').filter((page) => !page.endsWith('/index'));
  return [
    ...Object.entries(GROUPS).map(([text, of]) => ({ text, items: of.map(item) })),
    { ...item('docs/decisions/index'), collapsed: true, items: decisions.sort().map(item) },
    { text: 'Examples', items: ['examples', ...pagesIn('examples').sort()].map(item) },
  ];
}

/** One group for each entry of the package. TypeDoc nests them below the first. */
function reference() {
  const [main] = JSON.parse(readFileSync(join(pages, 'reference', 'typedoc-sidebar.json'), 'utf8'));
  const entries = main.items.filter(({ link }) => link !== undefined);
  return [
    { ...main, items: main.items.filter((one) => !entries.includes(one)) },
    ...entries.map((entry) => ({ ...entry, text: `${main.text}/${entry.text}` })),
  ];
}

export default defineConfig({
  title: 'Orrery',
  description:
    'A deterministic perpetual-futures exchange: backtests, scenarios, fuzzing and an API',
  lang: 'en',
  head: [['link', { rel: 'icon', href: ICON_URL }]],
  srcDir: 'pages',
  cacheDir: 'node_modules/.cache/vitepress',
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  markdown: {
    // The usual colours of code have contrasts of 3 to 4.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    config(md) {
      // The reference has anchors in its tables. Documents name placeholders as `<id>`.
      md.core.ruler.before('normalize', 'html', ({ env }) => {
        md.options.html = env.relativePath?.startsWith('reference/') ?? false;
      });
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, i, ...rest) => {
        const { info, content } = tokens[i];
        if (info.trim() !== 'mermaid') return fence(tokens, i, ...rest);
        return `<MermaidDiagram code="${encodeURIComponent(content)}" />`;
      };
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guide', link: '/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Examples', link: '/examples' },
    ],
    sidebar: {
      '/reference/': reference(),
      '/': guide(),
    },
  },
});
