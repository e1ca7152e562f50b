/**
 * Machines as network namespaces: each has one interface on a network of databases and one on a
 * network of clients, which can be cut apart from each other. Needs root and iproute2.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';

const NETWORKS = { data: '10.77.1', clients: '10.77.2' } as const;
export type NetworkName = keyof typeof NETWORKS;
const NAMES = Object.keys(NETWORKS) as NetworkName[];

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function ignoring(run: () => void): void {
  try {
    run();
  } catch {
    // It is not there.
  }
}

export class Machine {
  readonly name: string;
  private readonly number: number;
  private readonly prefix: string;

  constructor(prefix: string, number: number) {
    this.prefix = prefix;
    this.number = number;
    this.name = `${prefix}-${number}`;
    ip('netns', 'add', this.name);
    ip('-n', this.name, 'link', 'set', 'lo', 'up');
    for (const network of NAMES) {
      const [port, inside] = [this.port(network), `${network}0`];
      ip('link', 'add', port, 'type', 'veth', 'peer', 'name', inside, 'netns', this.name);
      ip('link', 'set', port, 'master', bridgeOf(prefix, network), 'up');
      ip('-n', this.name, 'addr', 'add', `${this.address(network)}/24`, 'dev', inside);
      ip('-n', this.name, 'link', 'set', inside, 'up');
    }
  }

  address(network: NetworkName): string {
    return `${NETWORKS[network]}.${10 + this.number}`;
  }

  /** Frames of this machine are dropped on the network; connections stay open. */
  cut(network: NetworkName): void {
    ip('link', 'set', this.port(network), 'down');
  }
  heal(network: NetworkName): void {
    ip('link', 'set', this.port(network), 'up');
  }

  /** Ends with the exit code of the program; throws if it is not 0. */
  run(program: string, args: readonly string[], as: number | null = null): void {
    execFileSync('ip', this.line(program, args, as), { stdio: 'ignore', cwd: '/' });
  }

  start(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    return spawn('ip', this.line(program, args, null), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  private line(program: string, args: readonly string[], as: number | null): string[] {
    const user = as === null ? [] : ['setpriv', `--reuid=${as}`, `--regid=${as}`, '--clear-groups'];
    return ['netns', 'exec', this.name, ...user, program, ...args];
  }

  private port(network: NetworkName): string {
    return portOf(this.prefix, network, this.number);
  }
}

const portOf = (prefix: string, network: NetworkName, number: number): string =>
  `${prefix}${network[0] ?? ''}${number}`;
const bridgeOf = (prefix: string, network: NetworkName): string => `${prefix}-${network}`;

/** Networks with so many machines. The namespace of this process is on both networks. */
export function createMachines(prefix: string, count: number): Machine[] {
  removeMachines(prefix, count);
  for (const network of NAMES) {
    const bridge = bridgeOf(prefix, network);
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('addr', 'add', `${NETWORKS[network]}.1/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
  }
  return Array.from({ length: count }, (_, i) => new Machine(prefix, i));
}

export function removeMachines(prefix: string, count: number): void {
  for (let i = 0; i < count; i++) {
    // A namespace that is deleted keeps its interfaces for a moment.
    for (const network of NAMES) ignoring(() => ip('link', 'del', portOf(prefix, network, i)));
    ignoring(() => ip('netns', 'del', `${prefix}-${i}`));
  }
  for (const network of NAMES) ignoring(() => ip('link', 'del', bridgeOf(prefix, network)));
}
