/** Errors of JSON-RPC 2.0, as answers of a feed. */
import { FEED_METHODS } from '../../contract/feeds.ts';
import { MESSAGES } from '../../contract/messages.ts';
import { RequestError } from '../../gateway/request-error.ts';
import { StoreStopped } from '../../journal/store-stopped.ts';

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
const NO_METHOD = -32_601;
const INVALID_PARAMS = -32_602;
const SERVER_ERROR = -32_000;

export type Method = (typeof FEED_METHODS)[number];

export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function methodOf(name: unknown): Method {
  const method = FEED_METHODS.find((known) => known === name);
  if (method !== undefined) return method;
  throw new RpcError(NO_METHOD, `Method must be one of ${FEED_METHODS.join(', ')}`);
}

interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly status: number };
}

export function errorOf(error: unknown): RpcFault {
  if (error instanceof RpcError) return { code: error.code, message: error.message };
  if (error instanceof StoreStopped) {
    return { code: SERVER_ERROR, message: MESSAGES.unavailable.message, data: { status: 503 } };
  }
  if (error instanceof RequestError) {
    const { status, message } = error;
    const code = status === 400 || status === 404 ? INVALID_PARAMS : SERVER_ERROR;
    return { code, message, data: { status } };
  }
  return { code: SERVER_ERROR, message: 'Internal server error', data: { status: 500 } };
}
