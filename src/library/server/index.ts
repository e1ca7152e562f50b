/**
 * `orrery/server`: the exchange as a server inside a test: real HTTP and WebSocket, with a clock,
 * prices and deposits that the test drives. Guide: docs/LIBRARY.md.
 * @packageDocumentation
 */
export { startServer } from './start-server.ts';
export { ServerError, type ServerOptions, type Terms } from './options.ts';
export type { ExchangeHash, FaultOptions, Server } from './server.ts';
export { HttpMatcherClient, type RequestSigner } from '../../http-client/http-matcher-client.ts';
export { UserError } from '../../base/user-error.ts';
