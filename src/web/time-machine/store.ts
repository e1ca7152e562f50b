/** State of the page as signals, and the calls to the worker that change them. */
import { batch, computed, signal } from '@preact/signals';
import { NO_ABOUT, type About } from '../../design/page-elements.ts';
import type { StepFlag } from '../../time-machine/index/step-flags.ts';
import { connect, latestOnly, type Calls } from '../worker-link.ts';
import { isDark } from '../theme.ts';
import { startWorker } from '../page-parts.ts';
import { placeText, readPlace } from './place-link.ts';
import { selectedId } from './selection.ts';
import { bottomTab } from './bottom-tab.ts';
import type { AccountScan } from './account-scan.ts';
import type { Finding } from './event-search.ts';
import type { CommandRow, Marks, Opened, Progress, SessionApi, Source } from './session.ts';
import { keyOf } from './scene-key.ts';
import type { Scene, SceneOptions } from './scene.ts';
import type { Strip } from './scrubber.tsx';

export const about = signal<About>(NO_ABOUT);
export const opened = signal<Opened | null>(null);
export const progress = signal<Progress | null>(null);
export const scene = signal<Scene | null>(null);
/** The command that was asked for last; the scene follows. */
export const seq = signal(0);
export const market = signal(0);
/** The account whose orders and curves are shown; null: that of the command. */
export const focus = signal<number | null>(null);
export const scan = signal<AccountScan | null>(null);
/** Commands around the playhead. */
export const around = signal<readonly CommandRow[]>([]);
/** Events that a search found; null without a search. */
export const findings = signal<readonly Finding[] | null>(null);
export const searching = signal('');
/** As in `selection.ts`. */
export const selection = signal<string | null>(null);
/** Visible range of the charts. */
export const range = signal<readonly [number, number]>([0, 1]);
export const strip = signal<Strip | null>(null);
export const prices = signal<Marks>({ points: [], tickSize: null });
export const problem = signal<string | null>(null);
/** A fault of the address, until the reader moves. */
export const placeProblem = signal<string | null>(null);
export const seekMs = signal<number | null>(null);
export const theme = signal<'light' | 'dark'>('light');
export const jumpKind = signal<StepFlag | 'event'>('fill');
/** Text for assistive technology. */
export const announcement = signal('');

export const lastSeq = computed(() => progress.value?.seq ?? opened.value?.baseSeq ?? 0);
/** True once all recorded hashes were reproduced. */
export const verified = computed<'running' | 'ok' | 'failed' | 'open'>(() => {
  const now = progress.value;
  if (now === null || !now.complete) return 'running';
  if (now.mismatch !== null || now.fault !== null) return 'failed';
  return now.ended ? 'ok' : 'open';
});

export const engine: Calls<SessionApi> = connect<SessionApi>(startWorker(), (report) => {
  onProgress(report as Progress);
});

let helper: Calls<SessionApi> | null = null;

/** Starts a second worker, which shares long work with the first one. */
export async function startHelper(): Promise<void> {
  if (helper !== null) return;
  helper = connect<SessionApi>(startWorker(), () => undefined);
  const { port1, port2 } = new MessageChannel();
  await engine.takeHelper(port1);
  await helper.helpOthers(port2);
}

/** Before the reader moved, the page follows the end of the journal while it is indexed. */
let moved = false;
/** Before the reader zooms, the charts show the whole journal. */
let zoomed = false;

function onProgress(report: Progress): void {
  progress.value = report;
  if (!zoomed) range.value = [opened.value?.baseSeq ?? 0, Math.max(report.seq, 1)];
  refreshStrip(null);
  refreshPrices(null);
  if (!report.complete) return;
  const { trade, seq: linked } = readPlace(location.hash);
  if (!moved) seekTo(about.value.seq ?? report.seq, false);
  if (trade !== null && linked === null) void goToTrade(trade);
  // A link may have named the account before its range could be executed.
  if (focus.value === null) void focusOnUser();
  else scanSoon();
}

/** The user nearest to its liquidation at the end, until another account is selected. */
async function focusOnUser(): Promise<void> {
  const last = await engine.seek(lastSeq.value, {
    market: 0,
    focus: null,
    order: null,
    accounts: true,
  });
  const users = last.accounts.filter(({ system }) => !system);
  const user = users.find(({ positions }) => positions > 0) ?? users[0];
  if (focus.value === null && user !== undefined) focusOn(user.subaccount);
  reload();
}

const fail = (error: Error): void => {
  problem.value = error.message;
};

const refreshStrip = latestOnly(
  () => engine.strip(market.value, 240),
  (made) => {
    strip.value = made;
  },
  fail,
);

const refreshPrices = latestOnly(
  () => engine.prices(market.value, ...range.value, 500),
  (made) => {
    prices.value = made;
  },
  fail,
);

/** The parts of a state that the panes show. */
const sceneOptions = (): SceneOptions => ({
  market: market.value,
  focus: focus.value,
  order: selectedId(selection.value, 'order'),
  accounts: bottomTab.value === 'accounts',
});

/**
 * Scenes one command before and after the shown one. A browser that has begun a frame keeps the
 * worker's answer back until the next one, so a step to these takes a frame less.
 */
const beside = new Map<string, Scene>();

const load = latestOnly(
  async (wanted: number) => {
    // Work for later would keep the worker from this request.
    clearTimeout(preparing);
    const began = performance.now();
    const options = sceneOptions();
    const made = beside.get(keyOf(wanted, options)) ?? (await engine.seek(wanted, options));
    return { made, asked: wanted, ms: performance.now() - began };
  },
  ({ made, asked, ms }) => {
    batch(() => {
      scene.value = made;
      seekMs.value = ms;
      problem.value = null;
      // The journal ended before the command that was asked for.
      if (made.seq < seq.value && asked === seq.value) seq.value = made.seq;
    });
    writePlace();
    whenAtRest();
  },
  fail,
);

const refreshAround = latestOnly(
  () => engine.around(seq.value, 40, 40),
  (rows) => {
    around.value = rows;
  },
  fail,
);

const refreshBeside = latestOnly(
  async () => {
    const [options, journal] = [sceneOptions(), opened.value];
    return { options, journal, scenes: await engine.beside(seq.value, options) };
  },
  ({ options, journal, scenes }) => {
    if (journal !== opened.value) return;
    beside.clear();
    for (const one of scenes) beside.set(keyOf(one.seq, options), one);
  },
  fail,
);

const refreshScan = latestOnly(
  () =>
    focus.value === null
      ? Promise.resolve(null)
      : engine.scan(focus.value, ...range.value, SCAN_POINTS),
  (made) => {
    if (made !== null) scan.value = made;
  },
  fail,
);
const SCAN_POINTS = 400;

const AROUND_MS = 60;
const PREPARE_MS = 200;
let preparing: ReturnType<typeof setTimeout> | undefined;
/** Requests that can wait while the user moves: what is beside, and then the next steps back. */
function whenAtRest(): void {
  clearTimeout(preparing);
  preparing = setTimeout(() => {
    refreshBeside(null);
    refreshAround(null);
    preparing = setTimeout(() => {
      engine.prepare().catch(() => undefined);
    }, PREPARE_MS - AROUND_MS);
  }, AROUND_MS);
}

let scanning: ReturnType<typeof setTimeout> | undefined;
/** The curve of the account in focus over the visible range. */
function scanSoon(): void {
  clearTimeout(scanning);
  scanning = setTimeout(() => {
    if (progress.value?.complete === true) refreshScan(null);
  }, 120);
}

export function seekTo(wanted: number, byReader = true): void {
  if (byReader) {
    moved = true;
    placeProblem.value = null;
  }
  const low = opened.value?.baseSeq ?? 0;
  const high = progress.value?.complete === true ? progress.value.seq : Infinity;
  const target = Math.min(high, Math.max(low, Math.round(wanted)));
  batch(() => {
    seq.value = target;
    showInRange(target);
  });
  load(target);
}

/** Loads the scene again: another selection or market. */
export const reload = (): void => {
  load(seq.value);
};

export async function jump(direction: 1 | -1): Promise<void> {
  const found = await engine.jump(seq.value, jumpKind.value, direction);
  if (found !== null) seekTo(found);
  else announcement.value = `no ${direction === 1 ? 'later' : 'earlier'} ${jumpKind.value}`;
}

/** A second press takes the selection back. */
export function select(what: string | null): void {
  selection.value = selection.value === what ? null : what;
  const account = selectedId(selection.value, 'account');
  if (account !== null) focusOn(account);
  reload();
}

export function focusOn(account: number | null): void {
  if (focus.value === account) return;
  focus.value = account;
  scan.value = null;
  scanSoon();
}

/** Moves the visible range so that a command is in it. */
function showInRange(at: number): void {
  const [from, to] = range.value;
  if (!zoomed || (at >= from && at <= to)) return;
  const width = to - from;
  setRange(at - width / 2, at + width / 2);
}

export function setRange(from: number, to: number): void {
  zoomed = true;
  const low = opened.value?.baseSeq ?? 0;
  const high = Math.max(low + 1, lastSeq.value);
  const width = Math.min(high - low, Math.max(20, Math.round(to - from)));
  const start = Math.min(high - width, Math.max(low, Math.round(from)));
  range.value = [start, start + width];
  refreshPrices(null);
  scanSoon();
}

/** Zooms around the playhead: below 1 is closer. */
export function zoom(factor: number): void {
  const [from, to] = range.value;
  const at = Math.min(to, Math.max(from, seq.value));
  setRange(at - (at - from) * factor, at + (to - at) * factor);
}

export function pan(share: number): void {
  const [from, to] = range.value;
  setRange(from + (to - from) * share, to + (to - from) * share);
}

export function showMarket(id: number): void {
  market.value = id;
  refreshStrip(null);
  refreshPrices(null);
  reload();
}

let writing: ReturnType<typeof setTimeout> | undefined;
function writePlace(): void {
  // Browsers limit how often the address may change.
  clearTimeout(writing);
  writing = setTimeout(() => {
    if (progress.value?.complete !== true) return;
    const text = placeText({ seq: seq.value, selection: selection.value });
    if (text !== location.hash) history.replaceState(null, '', text);
  }, 200);
}

/** The address itself may be that of the shown place again, written since the change. */
export function goToPlace(hash = location.hash): void {
  const place = readPlace(hash);
  if (place.selection !== null) {
    selection.value = place.selection;
    const account = selectedId(place.selection, 'account');
    if (account !== null) focusOn(account);
  }
  if (place.seq !== null) seekTo(place.seq);
  else if (place.trade !== null && progress.value?.complete === true) void goToTrade(place.trade);
  placeProblem.value =
    place.fault === null ? null : `the address names no place of a journal: ${place.fault}`;
}

async function goToTrade(id: number): Promise<void> {
  const found = await engine.seqOfTrade(id);
  if (found === null) placeProblem.value = `the journal has no trade ${String(id)}`;
  else seekTo(found);
}

/** A newer journal replaces one that is still being opened. */
let opens = 0;

export async function openSource(source: Source, data: About): Promise<void> {
  opens += 1;
  const mine = opens;
  // The address names a place of the journal that was shown.
  if (opened.value !== null) {
    clearTimeout(writing);
    history.replaceState(null, '', '#');
  }
  batch(() => {
    about.value = data;
    problem.value = null;
    progress.value = null;
    scene.value = null;
    strip.value = null;
    selection.value = null;
    focus.value = null;
    scan.value = null;
    findings.value = null;
    around.value = [];
    market.value = 0;
  });
  moved = false;
  zoomed = false;
  try {
    const made = await engine.open(source);
    if (mine !== opens) return;
    beside.clear();
    batch(() => {
      opened.value = made;
      range.value = [made.baseSeq, made.baseSeq + 1];
    });
    document.title = `${data.name} · time machine · Orrery`;
    // A link may name an account without a command.
    goToPlace();
    if (readPlace(location.hash).seq === null) seekTo(data.seq ?? made.baseSeq + 1, false);
  } catch (error) {
    if (mine !== opens) return;
    opened.value = null;
    fail(error as Error);
  }
}

export function followTheme(): void {
  const update = (): void => {
    theme.value = isDark() ? 'dark' : 'light';
  };
  update();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update);
}

export async function search(text: string): Promise<void> {
  findings.value = null;
  if (text.trim() === '') return;
  searching.value = 'searching …';
  try {
    const found = await engine.search(text);
    if (found === null) return;
    batch(() => {
      findings.value = found;
      searching.value = '';
    });
  } catch (error) {
    searching.value = (error as Error).message;
  }
}
