/** The page that shows the OpenAPI document: Swagger UI, from this server alone. */
import type { FastifyInstance } from 'fastify';
import { pageAsset } from '../platform/page-assets.ts';

const ASSETS = [
  { file: 'swagger-ui.js', type: 'application/javascript; charset=utf-8' },
  { file: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
  { file: 'swagger-ui.png', type: 'image/png' },
] as const;

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

/** `base` is where the page is seen from the path that was asked for. */
const pageAt = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API</title>
<link rel="stylesheet" href="${base}/static/swagger-ui.css">
<link rel="icon" type="image/png" href="${base}/static/swagger-ui.png">
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
SwaggerUIBundle({ dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, url: document_url });
`;

/** Serves the page at /docs. The document's plugin must be registered before. */
export async function docsPage(app: FastifyInstance): Promise<void> {
  const schema = { hide: true };
  app.addHook('onSend', (_request, reply, _payload, done) => {
    void reply.header('content-security-policy', POLICY);
    done();
  });
  app.get('/docs', { schema }, (request, reply) => {
    const [path = ''] = request.url.split('?');
    return reply.type('text/html; charset=utf-8').send(pageAt(path.endsWith('/') ? '.' : './docs'));
  });
  app.get('/docs/json', { schema }, () => app.swagger());
  app.get('/docs/yaml', { schema }, (_request, reply) =>
    reply.type('application/x-yaml').send(app.swagger({ yaml: true })),
  );
  app.get('/docs/static/start.js', { schema }, (_request, reply) =>
    reply.type('application/javascript; charset=utf-8').send(START),
  );
  for (const { file, type } of ASSETS) {
    const bytes = await pageAsset(file);
    app.get(`/docs/static/${file}`, { schema }, (_request, reply) => reply.type(type).send(bytes));
  }
}
