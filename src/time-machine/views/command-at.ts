/** A command as data, and as what its author would send: curl, a step of a scenario, a test. */
import { unreachable } from '../../base/assert.ts';
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import type { Outcome } from '../../engine/refusals.ts';
import { actOf, type RequestForm } from '../../fuzz/report/request-form.ts';
import { describeCommand } from '../../journal/format/codec.ts';
import { money } from '../../gateway/encode.ts';
import type { Address, MarketId, SubaccountId } from '../../num/units.ts';
import { accountName, subaccountName } from './account-names.ts';

export interface CommandForms {
  /** The command by field, with numbers that may pass 2^53 as text. */
  readonly json: string;
  /** One line on the command, in names and decimals. */
  readonly title: string;
  /** Request of the contract, or of `/sim` of a served exchange. */
  readonly curl: string;
  /** Step of a scenario: one item of `steps`. */
  readonly scenario: string;
  /** Lines of a test with vitest. */
  readonly test: string;
}

/** `view`: the exchange just before the command. */
export function commandForms(view: ExchangeView, command: Command): CommandForms {
  const act = actOf(command, view, (id) =>
    view.order(id) === undefined ? null : `order ${String(id)}`,
  );
  const json = JSON.stringify(describeCommand(command));
  return {
    json,
    title: titleOf(view, command, act),
    curl: curlOf(act, json),
    scenario: scenarioStep(json),
    test: '',
  };
}

/** `commandForms` with a test that expects the outcome. */
export function withOutcome(forms: CommandForms, outcome: Outcome): CommandForms {
  const expected = outcome === 'ok' ? "'ok'" : `{ code: '${outcome.code}' }`;
  const check = outcome === 'ok' ? 'toBe' : 'toMatchObject';
  return {
    ...forms,
    scenario: outcome === 'ok' ? forms.scenario : scenarioStep(forms.json, outcome.code),
    test: [
      `const command = parseCommand(${forms.json}, exchange.nowUs);`,
      `expect(exchange.apply(command)).${check}(${expected});`,
    ].join('\n'),
  };
}

const scenarioStep = (json: string, refusal?: string): string =>
  `- { command: ${json}${refusal === undefined ? '' : `, expect: { outcome: ${refusal} }`} }`;

function curlOf(act: RequestForm, json: string): string {
  switch (act.kind) {
    case 'call': {
      const { method, path } = ENDPOINTS[act.endpoint] as Endpoint;
      const token = '-H "authorization: Bearer $TOKEN"';
      if (method === 'POST') {
        return `curl -X POST "$URL${path}" ${token} ${BODY} -d '${jsonText(act.request)}'`;
      }
      const query = Object.entries(act.request)
        .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
        .join('&');
      return `curl -X ${method} "$URL${path}?${query}" ${token}`;
    }
    case 'money':
      return simCurl(act.verb, jsonText({ ...act.fields }));
    case 'price':
      return act.verb === 'fundingRate'
        ? simCurl('funding', jsonText({ symbol: act.symbol, rate: act.value }))
        : simCurl(act.verb, jsonText({ symbol: act.symbol, price: act.value }));
    default:
      return simCurl('command', json);
  }
}

const BODY = "-H 'content-type: application/json'";
const simCurl = (path: string, json: string): string =>
  `curl -X POST "$URL/sim/${path}" -H "authorization: Bearer $SIM" ${BODY} -d '${shellText(json)}'`;

/** In single quotes of a shell. */
const shellText = (text: string): string => text.replaceAll("'", "'\\''");

/** JSON with exact integers, whatever their size. */
function jsonText(value: unknown): string {
  return shellText(exactJson(value));
}

function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(
      ([name, of]) => `${JSON.stringify(name)}:${exactJson(of)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}

function titleOf(view: ExchangeView, command: Command, act: RequestForm): string {
  switch (act.kind) {
    case 'call': {
      const { request } = act;
      const owner = 'subaccount' in command ? nameOf(view, command.subaccount) : act.account;
      const fields = ['symbol', 'orderType', 'quantity', 'price', 'orderId', 'amount', 'margin']
        .map((name) => request[name])
        .filter((value) => typeof value === 'string');
      return `${owner}: ${act.endpoint} ${fields.join(' ')}`.trim();
    }
    case 'money':
      return `${act.verb} ${act.fields.amount} ${addressName(view, act.fields.account)}`;
    case 'price':
      return `${act.verb} ${act.symbol} ${act.value}`;
    case 'tape':
      return [act.verb, act.fields['symbol'], act.fields['quantity'], act.fields['price']]
        .filter((value) => value !== undefined)
        .map(String)
        .join(' ');
    case 'time':
      return 'time passes';
    case 'notExpressible':
      return operatorTitle(view, command);
  }
}

/** Commands of the operator, and refused ones that name what the exchange does not have. */
function operatorTitle(view: ExchangeView, command: Command): string {
  switch (command.kind) {
    case 'listMarket':
      return `${command.spec.symbol}: is listed`;
    case 'setMarketTerms':
      return `${command.spec.symbol}: new terms`;
    case 'setMarketStatus':
      return `${symbolOf(view, command.market)}: status ${command.status}`;
    case 'delistMarket':
      return `${symbolOf(view, command.market)}: is delisted`;
    case 'setSelfTradeMode': {
      const mode = command.mode === null ? 'of the exchange' : String(command.mode);
      return `${addressName(view, command.account)}: self-trade mode ${mode}`;
    }
    case 'cancelOrder':
      return `cancel order ${String(command.orderId)}`;
    case 'placeOrder':
    case 'placeOrders':
    case 'cancelAll':
    case 'updateMargin':
      return `${nameOf(view, command.subaccount)}: ${command.kind}`;
    case 'transfer':
      return `${addressName(view, command.from)}: ${command.kind} ${money(command.amount)}`;
    case 'deposit':
    case 'withdraw':
      return `${command.kind} ${money(command.amount)} ${command.account}`;
    case 'updateDelegate':
    case 'updateSigners':
      return `${addressName(view, command.account)}: ${command.kind}`;
    case 'setIndex':
    case 'setMark':
    case 'settleFunding':
    case 'tapeDepth':
    case 'tapeTrade':
    case 'tapeSnapshot':
    case 'tapeQuotes':
    case 'tapeGap':
    case 'tapeBar':
    case 'tapeL3':
      return `${command.kind} ${symbolOf(view, command.market)}`;
    case 'advanceTime':
      return 'time passes';
    default:
      return unreachable(command);
  }
}

const symbolOf = (view: ExchangeView, id: MarketId): string =>
  view.markets()[id]?.spec.symbol ?? `market ${String(id)}`;

function addressName(view: ExchangeView, address: Address): string {
  const id = view.accountIdOf(address);
  return id === undefined ? address : accountName(id);
}

function nameOf(view: ExchangeView, id: SubaccountId): string {
  return id >= 0 && id < view.subaccountCount ? subaccountName(view, id) : `account ${String(id)}`;
}
