/** The baseline of the HTTP bench: Fastify with request and response schemas. */
import Fastify from 'fastify';

const app = Fastify();
const record = {
  type: 'object',
  properties: {
    account: { type: 'string' },
    price: { type: 'string' },
    nonce: { type: 'integer' },
  },
  required: ['account', 'price', 'nonce'],
} as const;
app.post(
  '/echo',
  { schema: { body: record, response: { 200: record } } },
  (request) => request.body,
);
const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listens on ${address}`);
