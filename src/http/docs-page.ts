/** The page that shows the OpenAPI document: Swagger UI, from this server alone. */
import type { FastifyInstance } from 'fastify';
import { ICON_URL } from '../design/icon.ts';
import { THEME_CSS } from '../design/tokens.ts';
import { pageAsset } from '../platform/page-assets.ts';
import { sendJson } from './replies.ts';

const ASSETS = [
  { file: 'swagger-ui.js', type: 'application/javascript; charset=utf-8' },
  { file: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
] as const;

/** Requests that one for a document counts as: these have up to a megabyte. */
export const LARGE_COST = 20;

/** The page sets styles on elements; its scripts are files of this server. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'self'",
  "font-src 'self' data:",
  "frame-ancestors 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src 'self'",
  "script-src-attr 'none'",
  "style-src 'self' 'unsafe-inline'",
].join('; ');

/** Colours with enough contrast in both themes; those of Swagger UI have 2 to 3.8. */
const STYLE = `${THEME_CSS}
body { margin: 0; background: var(--surface); }
.swagger-ui .opblock .opblock-summary-method, .swagger-ui .opblock.opblock-get .opblock-summary-method { background: var(--accent); color: var(--on-accent); }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: var(--buy); color: var(--on-pnl); }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: var(--sell); color: var(--on-pnl); }
html:not(.dark-mode) .swagger-ui .info .title small { background: var(--text-2) !important; }
.swagger-ui .info .title small pre { color: var(--on-pnl); }
.swagger-ui .info .link, .swagger-ui .info .url { color: var(--accent); }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: var(--gain); border-color: var(--gain); }
.swagger-ui button[class^=json-schema] { color: var(--text-2); min-height: 24px; }
`;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const inHtml = (text: string): string => text.replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign);

/** `base` is where the page is seen from the path that was asked for. */
const pageAt = (base: string, name: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inHtml(name)} API</title>
<link rel="stylesheet" href="${base}/static/swagger-ui.css">
<style>
${STYLE}</style>
<link rel="icon" href="${ICON_URL}">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${base}/static/swagger-ui.js"></script>
<script src="${base}/static/start.js"></script>
</body>
</html>
`;

/** The document lies beside the folder of the scripts, whatever path a proxy gives both. */
const START = `const document_url = new URL('../json', document.currentScript.src).href;
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({ dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, url: document_url });
`;

/** Serves the page at /docs, named as the exchange, after the document's plugin is registered. */
export async function docsPage(app: FastifyInstance, name: string): Promise<void> {
  const options = { config: { access: { cost: LARGE_COST } } };
  const documents = { json: '', yaml: '' };
  app.addHook('onReady', (done) => {
    documents.json = JSON.stringify(app.swagger());
    documents.yaml = app.swagger({ yaml: true });
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    void reply.header('content-security-policy', POLICY);
    done();
  });
  app.get('/docs', options, (request, reply) => {
    const [path = ''] = request.url.split('?');
    return reply
      .type('text/html; charset=utf-8')
      .send(pageAt(path.endsWith('/') ? '.' : './docs', name));
  });
  app.get('/docs/json', options, (_request, reply) => sendJson(reply, documents.json));
  app.get('/docs/yaml', options, (_request, reply) =>
    reply.type('application/x-yaml').send(documents.yaml),
  );
  app.get('/docs/static/start.js', options, (_request, reply) =>
    reply.type('application/javascript; charset=utf-8').send(START),
  );
  for (const { file, type } of ASSETS) {
    const bytes = await pageAsset(file);
    app.get(`/docs/static/${file}`, options, (_request, reply) => reply.type(type).send(bytes));
  }
}
