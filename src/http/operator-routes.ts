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
  isRepeated,
  listMarketCommand,
  moneyCommand,
  operatorAudit,
  setStatusCommand,
  setTermsCommand,
  type OperatorContext,
} from '../gateway/operator-requests.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustSucceed } from '../gateway/refusal-reply.ts';
import { previewCommand } from '../gateway/preview.ts';
import type { Copies } from './copies.ts';
import type { Host } from './exchange-host.ts';
import { bodyOf } from './read-body.ts';
import { sendBody, sendError } from './replies.ts';

export interface OperatorOptions {
  readonly host: Host;
  readonly copies: Copies;
  readonly keccak: Keccak;
  readonly token: string;
}

type Make = (context: OperatorContext, symbol: string, body: unknown) => Command;

const WRITES: readonly (readonly [path: string, make: Make])[] = [
  ['markets', (context, _symbol, body) => listMarketCommand(context, body)],
  ['markets/:symbol/terms', setTermsCommand],
  ['markets/:symbol/status', setStatusCommand],
  ['markets/:symbol/delist', delistCommand],
  ['insurance/credit', (context, _symbol, body) => creditInsuranceCommand(context, body)],
  ['deposit', (context, _symbol, body) => moneyCommand('deposit', context, body)],
  ['withdraw', (context, _symbol, body) => moneyCommand('withdraw', context, body)],
];

export function operatorRoutes(app: FastifyInstance, options: OperatorOptions): void {
  const { host, copies, keccak, token } = options;
  const access = { config: { access: { control: { token, refusal: MESSAGES.operatorToken } } } };
  for (const [path, make] of WRITES) {
    app.post(`/operator/${path}`, access, async (request, reply) => {
      try {
        const symbol = symbolOf(request.params);
        const context = { view: host.view, nowUs: host.nowUs(), keccak };
        const command = make(context, symbol, bodyOf(request));
        if (!isRepeated(host.view, command)) mustSucceed(host.submit(command));
        await host.exchange.committed();
        return await reply.send(null);
      } catch (error) {
        return sendError(reply, error);
      }
    });
    app.post(`/operator/preview/${path}`, access, async (request, reply) => {
      try {
        const symbol = symbolOf(request.params);
        const body = bodyOf(request);
        const preview = await copies.run(null, (copy) => {
          const context = { view: host.view, nowUs: host.nowUs(), keccak };
          const command = make(context, symbol, body);
          const { timeUs } = command;
          // A repeated request changes nothing.
          const applied: Command = isRepeated(host.view, command)
            ? { kind: 'advanceTime', timeUs }
            : command;
          return previewCommand(host.view, copy, applied);
        });
        await host.exchange.durable();
        return await sendBody(reply, preview);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
  app.get('/operator/audit', access, async (request, reply) => {
    try {
      host.catchUp();
      const audit = operatorAudit(host.view, request.query);
      await host.exchange.durable();
      return await reply.send(audit);
    } catch (error) {
      return sendError(reply, error);
    }
  });
}

function symbolOf(params: unknown): string {
  if (typeof params !== 'object' || params === null || !('symbol' in params)) return '';
  return typeof params.symbol === 'string' ? params.symbol : '';
}
