/**
 * Calls between a page and its worker. A call is a message with a number, and its reply has the
 * same number. Reports that no call asked for have number 0.
 */

/** Methods of a worker: arguments and results are structured clones. */
export type Api = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type ReplyMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

export type Calls<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** A worker, or an end of a channel to one. */
type Link = Pick<MessagePort, 'postMessage'> & {
  onmessage: ((event: MessageEvent<ReplyMessage>) => void) | null;
  onerror?: ((event: ErrorEvent) => void) | null;
};

/** Page's side. `onReport` receives what the worker sends on its own. */
export function connect<T extends Api>(
  worker: Link,
  onReport: (report: unknown) => void,
): Calls<T> {
  let lastId = 0;
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (e: Error) => void }>();
  worker.onmessage = ({ data }: MessageEvent<ReplyMessage>) => {
    if (data.id === 0) {
      if ('result' in data) onReport(data.result);
      return;
    }
    const call = open.get(data.id);
    open.delete(data.id);
    if ('error' in data) call?.reject(new Error(data.error));
    else call?.resolve(data.result);
  };
  worker.onerror = (event) => {
    for (const { reject } of open.values()) reject(new Error(event.message));
    open.clear();
  };
  return new Proxy({} as Calls<T>, {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          lastId += 1;
          open.set(lastId, { resolve, reject });
          const transfer = args.filter(
            (one): one is ArrayBuffer | MessagePort =>
              one instanceof ArrayBuffer || one instanceof MessagePort,
          );
          const message: CallMessage = { id: lastId, method: String(method), args };
          worker.postMessage(message, transfer);
        }),
  });
}

/** The part of a worker's global scope, or of the end of a channel, that is used here. */
export interface WorkerScope {
  onmessage: ((event: MessageEvent<CallMessage>) => void) | null;
  postMessage: (message: ReplyMessage) => void;
}

/** Worker's side. Calls begin in the order of the messages; a call that waits lets others in. */
export function serve(
  api: Api,
  scope = globalThis as unknown as WorkerScope,
): (report: unknown) => void {
  const answer = async ({ id, method, args }: CallMessage): Promise<void> => {
    try {
      if (!Object.hasOwn(api, method)) throw new Error(`no method ${method}`);
      const result = await api[method]?.(...(args as never[]));
      scope.postMessage({ id, result });
    } catch (error) {
      scope.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  };
  scope.onmessage = ({ data }) => {
    void answer(data);
  };
  return (report) => {
    scope.postMessage({ id: 0, result: report });
  };
}

/** Runs the newest request only: what is superseded before its begin is dropped. */
export function latestOnly<A, R>(
  work: (argument: A) => Promise<R>,
  onResult: (result: R) => void,
  onError: (error: Error) => void,
): (argument: A) => void {
  let running = false;
  let next: { readonly argument: A } | null = null;
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    while (next !== null) {
      const { argument }: { readonly argument: A } = next;
      next = null;
      try {
        onResult(await work(argument));
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
      }
    }
    running = false;
  };
  return (argument) => {
    next = { argument };
    void run();
  };
}
