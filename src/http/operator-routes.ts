/**
 * Operator commands over HTTP, behind their own bearer token; disabled without one. A
 * write is durable before the reply. The audit list is read from the journal.
 */
import type { FastifyInstance } from 'fastify';
import { MESSAGES } from '../contract/messages.ts';
import type { Command } from '../engine/commands.ts';
import {
  creditInsuranceCommand,
  delistCommand,
  listMarketCommand,
  moneyCommand,
  operatorAudit,
  setStatusCommand,
  setTermsCommand,
  type OperatorContext,
} from '../gateway/operator-requests.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustSucceed } from '../gateway/refusal-reply.ts';
import type { Host } from './exchange-host.ts';
import { bodyOf } from './read-body.ts';
import { sendError } from './replies.ts';

export interface OperatorOptions {
  readonly host: Host;
  readonly keccak: Keccak;
  readonly token: string;
}

type Make = (context: OperatorContext, symbol: string, body: unknown) => Command;

const WRITES: readonly (readonly [path: string, summary: string, make: Make])[] = [
  ['markets', 'Lists a market', (context, _symbol, body) => listMarketCommand(context, body)],
  ['markets/:symbol/terms', 'Changes terms of a market', setTermsCommand],
  ['markets/:symbol/status', 'Restricts or reopens a market', setStatusCommand],
  ['markets/:symbol/delist', 'Settles every position and closes the market', delistCommand],
  [
    'insurance/credit',
    'Deposits to the insurance fund',
    (context, _symbol, body) => creditInsuranceCommand(context, body),
  ],
  [
    'deposit',
    'Deposits from outside',
    (context, _symbol, body) => moneyCommand('deposit', context, body),
  ],
  [
    'withdraw',
    'Withdraws to outside',
    (context, _symbol, body) => moneyCommand('withdraw', context, body),
  ],
];

export function operatorRoutes(app: FastifyInstance, options: OperatorOptions): void {
  const { host, keccak, token } = options;
  const describe = (summary: string) => ({
    schema: { tags: ['operator'], summary, security: [{ operator: [] }] },
    config: { access: { control: { token, refusal: MESSAGES.operatorToken } } },
  });
  for (const [path, summary, make] of WRITES) {
    app.post(`/operator/${path}`, describe(summary), async (request, reply) => {
      try {
        const symbol = symbolOf(request.params);
        const context = { view: host.view, nowUs: host.nowUs(), keccak };
        mustSucceed(host.submit(make(context, symbol, bodyOf(request))));
        await host.exchange.durable();
        return await reply.send(null);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
  app.get('/operator/audit', describe('Accepted commands, newest first'), (request, reply) => {
    try {
      return reply.send(operatorAudit(host.view, request.query));
    } catch (error) {
      return sendError(reply, error);
    }
  });
}

function symbolOf(params: unknown): string {
  if (typeof params !== 'object' || params === null || !('symbol' in params)) return '';
  return typeof params.symbol === 'string' ? params.symbol : '';
}
