/** The time machine: one journal, executed in a worker, at any instant. */
import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { NO_ABOUT } from '../../design/page-elements.ts';
import { THEME_CSS } from '../../design/tokens.ts';
import { count, shortHash } from '../exact-text.ts';
import { embedded } from '../page-parts.ts';
import baseCss from '../style.css?inline';
import { applyKeptTheme, showIcon } from '../theme.ts';
import { CHART_CSS } from './account-chart.tsx';
import { BookPane } from './book-pane.tsx';
import { followBookmarks } from './bookmarks.ts';
import { BreakpointBar, countAllHits, openForm, runTo, setBreakpoints } from './breakpoints.tsx';
import { bottomTab } from './bottom-tab.ts';
import { Centre } from './centre.tsx';
import { Dialogs, helpOpen, markOpen } from './dialogs.tsx';
import { SEARCH_ID } from './events-tab.tsx';
import { keepFocus } from './kept-focus.ts';
import { ask } from './go-to.tsx';
import { HeaderBar } from './header-bar.tsx';
import { actionOf, type KeyAction } from './key-map.ts';
import { openDropped, Opener } from './opener.tsx';
import { play } from './playing.ts';
import {
  announcement,
  followTheme,
  goToPlace,
  jump,
  lastSeq,
  opened,
  openSource,
  pan,
  placeProblem,
  problem,
  progress,
  scene,
  seekMs,
  seekTo,
  select,
  selection,
  seq,
  zoom,
} from './store.ts';
import machineCss from './time-machine.css?inline';
import { SidePane } from './side-pane.tsx';
import { sideTab } from './side-tab.ts';
import { Transport } from './transport.tsx';

/** Focuses what is shown next, so that Tab goes on from there. */
function focusSoon(id: string): void {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}

const ACTIONS: Readonly<Record<KeyAction, () => void>> = {
  stepBack: () => {
    seekTo(seq.value - 1);
  },
  step: () => {
    seekTo(seq.value + 1);
  },
  jumpBack: () => void jump(-1),
  jump: () => void jump(1),
  playBack: () => {
    play(-1);
  },
  pause: () => {
    play(0);
  },
  play: () => {
    play(1);
  },
  zoomIn: () => {
    zoom(0.5);
  },
  zoomOut: () => {
    zoom(2);
  },
  panBack: () => {
    pan(-0.25);
  },
  pan: () => {
    pan(0.25);
  },
  runBack: () => void runTo('backward'),
  run: () => void runTo('forward'),
  addBreakpoint: openForm,
  mark: () => {
    markOpen.value = true;
  },
  fork: () => {
    bottomTab.value = 'fork';
    focusSoon('panel-fork');
  },
  kind: () => {
    keepFocus();
    document.getElementById('jump-kind')?.focus();
  },
  search: () => {
    keepFocus();
    bottomTab.value = 'events';
    focusSoon(SEARCH_ID);
  },
  why: () => {
    sideTab.value = 'why';
    focusSoon('panel-why');
  },
  firstLiquidation: () => void ask('liquidation'),
  lastFill: () => void ask('fill'),
  firstRefusal: () => void ask('refusal'),
  firstViolation: () => void ask('violation'),
  first: () => {
    seekTo(opened.value?.baseSeq ?? 0);
  },
  last: () => {
    seekTo(lastSeq.value);
  },
  help: () => {
    helpOpen.value = true;
  },
  clear: () => {
    if (selection.value !== null) select(null);
  },
};

function onKey(event: KeyboardEvent): void {
  const action = opened.value === null ? null : actionOf(event);
  if (action === null) return;
  event.preventDefault();
  ACTIONS[action]();
}

function onHash(event: HashChangeEvent): void {
  goToPlace(new URL(event.newURL).hash);
}

function Machine() {
  useEffect(() => {
    addEventListener('keydown', onKey);
    addEventListener('hashchange', onHash);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('hashchange', onHash);
    };
  }, []);
  if (opened.value === null) return <Opener />;
  return (
    <div
      class="machine"
      onDragOver={(event) => {
        event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        void openDropped(event.dataTransfer);
      }}
    >
      <HeaderBar />
      <Transport />
      <BreakpointBar />
      <BookPane />
      <Centre />
      <SidePane />
      <Foot />
      <Dialogs />
      <div class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </div>
  );
}

function Foot() {
  const ms = seekMs.value;
  const fault = problem.value ?? placeProblem.value;
  return (
    <footer class="foot">
      <span class="keys-hint">
        <kbd>← →</kbd> step
      </span>
      <span class="keys-hint wide">
        <kbd>J K L</kbd> play
      </span>
      <span class="keys-hint wide">
        <kbd>[ ]</kbd> breakpoint
      </span>
      <span class="keys-hint wide">
        <kbd>W S</kbd> zoom
      </span>
      <button
        type="button"
        class="link"
        onClick={() => {
          helpOpen.value = true;
        }}
      >
        <kbd>?</kbd> all keys
      </button>
      <span class="space" />
      {fault === null ? null : (
        <span class="error" role="alert">
          {fault}
        </span>
      )}
      <span class="wide">{ms === null ? '' : `seek ${ms.toFixed(1)} ms`}</span>
      <span class="wide">{count(lastSeq.value)} commands</span>
      <span>
        chain{' '}
        <code id="chain" title={scene.value?.chainHash} data-seq={scene.value?.seq}>
          {shortHash(scene.value?.chainHash ?? '–')}
        </code>
      </span>
      <span class="wide">
        Charts by <a href="https://www.tradingview.com/">TradingView</a>
      </span>
    </footer>
  );
}

function start(): void {
  const style = document.createElement('style');
  style.textContent = [THEME_CSS, baseCss, CHART_CSS, machineCss].join('\n');
  document.head.append(style);
  showIcon();
  applyKeptTheme();
  followTheme();
  followBookmarks();
  const root = document.getElementById('page');
  if (root === null) throw new Error('the page has no element for its content');
  render(<Machine />, root);
  const data = embedded();
  if (data !== null) {
    const { about, journal, base } = data;
    setBreakpoints(about.breakpoints);
    void openSource({ kind: 'embedded', journal, base }, { ...NO_ABOUT, ...about });
  }
  effect(() => {
    if (progress.value?.complete === true) untracked(countAllHits);
  });
}

start();
