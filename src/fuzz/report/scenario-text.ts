/**
 * A shrunk failure as a scenario (docs/SCENARIOS.md): API requests for `orrery run`, with the
 * answers that the rules require, and checks of all commands at the end.
 */
import type { Violation } from '../checker.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { ZERO_ADDRESS } from '../../gateway/encode.ts';
import { describeCommand } from '../../journal/format/codec.ts';
import { formatDuration } from '../../num/time-text.ts';
import { durationUs, type Address } from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { OrderSource, Reproduction, ReproductionStep } from './reproduction.ts';
import { configTerms, marketTerms, startText } from './terms-text.ts';

/** Reference to the nth order of a saved reply. */
export function scenarioReference({ act, name, nth }: OrderSource): string {
  const batch = act.kind === 'call' && act.endpoint === 'submitOrders';
  return batch ? `$${name}.orders[${String(nth)}].orderId` : `$${name}[${String(nth)}].orderId`;
}

/** A request after all steps, with the part of its reply that the rules require. */
export interface LastRequest {
  readonly timeUs: number;
  readonly endpoint: EndpointId;
  readonly request: Entries;
  /** null: without a token. */
  readonly account: Address | null;
  /** Page of the reply, from 1. */
  readonly page: number;
  readonly expect:
    | { readonly status: number }
    | { readonly body: unknown }
    | { readonly more: boolean }
    | { readonly keptSince: number | null };
}

/** `checks`: those that all commands of the run must pass. */
export function scenarioText(
  config: ExchangeConfig,
  { opening, steps, commands }: Reproduction,
  violation: Violation,
  checks: readonly string[],
  last: LastRequest | null = null,
): string {
  const names = new Names(config);
  const written: string[] = [];
  for (const step of steps) {
    const wait = step.act === null ? {} : waitOf(step.waitUs);
    const emitted = stepOf(step, names);
    if (step.act === null) written.push(commandStep(step));
    else if (emitted !== null) written.push(mapText({ ...wait, ...emitted }));
    else if (step.waitUs > 0) written.push(mapText(wait));
  }
  if (last !== null) {
    const { account, endpoint, request, page, expect, timeUs } = last;
    const waitUs = timeUs - (commands.at(-1)?.timeUs ?? config.genesisTimeUs);
    const asked = account ?? config.clsAccount;
    const step = {
      ...waitOf(Math.max(0, waitUs)),
      ...(account === null ? {} : { as: names.of(account) }),
      do: endpoint,
      with: withoutDefaults(request, asked, names),
      ...(page === 1 ? {} : { page }),
      expect,
    };
    written.push(mapText(step));
  }
  const rules = violation.rule.match(/R-\d+\.\d+[a-z]?/g) ?? [];
  const markets = opening.flatMap((command) =>
    command.kind === 'listMarket' ? [mapText(marketTerms(command.spec))] : [],
  );
  const terms = configTerms(config);
  const start = startText(config);
  const accounts = names.users().map(([address, name]) => `  ${name}: { address: "${address}" }`);
  return [
    'orrery: 1',
    `title: ${JSON.stringify(`${violation.says} (${violation.invariant})`)}`,
    `rules: [${[...new Set(rules)].join(', ')}]`,
    'about: |',
    `  Found by orrery fuzz and shrunk: ${violation.rule}: ${violation.says}.`,
    `  Found instead: ${violation.detail.split('\n').join('\n  ')}`,
    '',
    ...(start === null ? [] : [`start: ${start}`]),
    ...(Object.keys(terms).length === 0 ? [] : [`config: ${mapText(terms)}`]),
    ...(markets.length === 0
      ? ['markets: []']
      : ['markets:', ...markets.map((market) => `  - ${market}`)]),
    ...(accounts.length === 0 ? ['accounts: {}'] : ['accounts:', ...accounts]),
    '',
    'steps:',
    ...(written.length === 0 ? ['  - wait: 1us'] : written.map((step) => `  - ${step}`)),
    '',
    'expect:',
    '  invariants: true',
    ...(checks.length === 0 ? [] : [`  checks: [${checks.join(', ')}]`]),
    '',
  ].join('\n');
}

/** JSON is valid YAML. */
function commandStep({ command, answer }: ReproductionStep): string {
  const fields = JSON.stringify(describeCommand(command));
  const expected = answer === 'ok' || answer === null ? '' : `, expect: { outcome: ${answer} }`;
  return `{ command: ${fields}${expected} }`;
}

function stepOf({ act, answer, savedAs }: ReproductionStep, names: Names): Entries | null {
  switch (act?.kind) {
    case 'call': {
      const refused = answer !== 'ok' && answer !== null;
      return {
        as: names.of(act.account),
        ...(act.signer === act.account ? {} : { signer: names.of(act.signer) }),
        do: act.endpoint,
        with: withoutDefaults(act.request, act.account, names),
        ...(savedAs === null ? {} : { save: savedAs }),
        ...(refused ? { expect: { refused: 'true' } } : {}),
      };
    }
    case 'money': {
      const { account, subaccountIndex, amount } = act.fields;
      const name = names.of(account);
      return {
        [act.verb]: { account: name, subaccount: String(subaccountIndex), amount: plain(amount) },
      };
    }
    case 'price':
      return { [act.verb]: { [act.symbol]: plain(act.value) } };
    case 'tape':
      return { [act.verb]: plainFields(act.fields) };
    default:
      return null;
  }
}

/** A request without the fields that the scenario fills in. */
function withoutDefaults(
  request: Readonly<Record<string, unknown>>,
  account: string,
  names: Names,
): Entries {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    if (name === 'orders' && Array.isArray(value)) {
      kept[name] = value.map((order: Readonly<Record<string, unknown>>) =>
        withoutDefaults(order, account, names),
      );
    } else if (name === 'signers' && Array.isArray(value)) {
      kept[name] = value.map((signer) => names.of(String(signer)));
    } else if (!isDefault(name, value, account)) {
      kept[name] = ADDRESS_KEYS.includes(name) ? names.of(String(value)) : plain(value);
    }
  }
  return kept;
}

const ADDRESS_KEYS = ['account', 'accountFrom', 'accountTo', 'target', 'delegate', 'originator'];

function isDefault(name: string, value: unknown, account: string): boolean {
  switch (name) {
    case 'account':
    case 'accountFrom':
    case 'accountTo':
    case 'target':
      return value === account;
    case 'subaccountIndex':
    case 'subaccountIndexFrom':
    case 'subaccountIndexTo':
    case 'originatorFee':
      return value === 0;
    case 'originator':
      return value === ZERO_ADDRESS;
    case 'signatures':
      return true;
    case 'expiresAt':
      return typeof value === 'bigint' && value >= NEVER_MS;
    case 'orderType':
      return value === 'limit';
    case 'flags':
      return Object.values(value as object).every((flag) => flag === false);
    default:
      return false;
  }
}

/** u1, u2 … in order of first use; system accounts by their names. */
class Names {
  private readonly names = new Map<string, string>();
  private users_: string[] = [];

  constructor(config: ExchangeConfig) {
    const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = config;
    this.names.set(clsAccount, 'vault');
    this.names.set(insuranceAccount, 'insurance');
    this.names.set(treasuryAccount, 'treasury');
    this.names.set(shortfallAccount, 'shortfall');
  }

  of(account: string): string {
    const known = this.names.get(account);
    if (known !== undefined) return known;
    const name = `u${String(this.users_.length + 1)}`;
    this.names.set(account, name);
    this.users_ = [...this.users_, name];
    return name;
  }

  users(): readonly (readonly [address: string, name: string])[] {
    return [...this.names].filter(([, name]) => this.users_.includes(name));
  }
}

type Entries = Readonly<Record<string, unknown>>;

function waitOf(us: number): Entries {
  if (us === 0) return {};
  // One unit, if its digits are few enough for a length of time.
  if (us >= 1_000_000_000) return { wait: formatDuration(durationUs(us)) };
  if (us % 1_000_000 === 0) return { wait: `${String(us / 1_000_000)}s` };
  return { wait: us % 1000 === 0 ? `${String(us / 1000)}ms` : `${String(us)}us` };
}

/** A number, written without quotes. */
class Plain {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const plain = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? new Plain(value) : value;

const plainFields = (fields: Entries): Entries =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plainDeep(value)]));

const plainDeep = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(plainDeep) : plain(value);

/** A flow map of YAML. */
function mapText(entries: Entries): string {
  const fields = Object.entries(entries).map(([name, value]) => `${name}: ${valueText(value)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

const NUMBER_TEXT = /^-?\d+(\.\d+)?$/;

function valueText(value: unknown): string {
  if (value instanceof Plain) return value.text;
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return mapText(value as Entries);
  if (typeof value === 'string') {
    const bare = NUMBER_TEXT.test(value) || /^[A-Za-z][\w.-]*$/.test(value);
    return bare ? value : JSON.stringify(value);
  }
  return String(value);
}
