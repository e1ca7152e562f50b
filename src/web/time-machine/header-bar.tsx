/** Name of the journal, verification of its hashes, and what can be done with the whole. */
import type { HashMismatch } from '../../time-machine/timeline.ts';
import { bytesText, count, shortHash } from '../exact-text.ts';
import { about, opened, progress, scene, verified } from './store.ts';
import { bottomTab } from './bottom-tab.ts';
import { markOpen, shareOpen, themeSwitched } from './dialogs.tsx';

export function HeaderBar() {
  const now = scene.value;
  const done = progress.value;
  const symbols = now?.markets.map(({ symbol }) => symbol).join(', ') ?? '';
  return (
    <header class="top">
      <h1>Orrery</h1>
      <span class="quiet wide" aria-hidden="true">
        /
      </span>
      <span class="strong">{about.value.name}</span>
      {about.value.masked ? <span class="chip info">masked</span> : null}
      <span class="quiet about wide">
        {done === null ? '' : `${count(done.seq)} commands · `}
        {bytesText(opened.value?.bytes ?? 0)}
        {symbols === '' ? '' : ` · ${symbols}`}
      </span>
      <span class="space" />
      <Verified />
      <button
        type="button"
        class="button"
        title="Keep this instant with a note"
        onClick={() => {
          markOpen.value = true;
        }}
      >
        Mark <kbd class="wide">M</kbd>
      </button>
      <button
        type="button"
        class="button"
        title="Change this command and compare both runs"
        onClick={() => {
          bottomTab.value = 'fork';
          document.getElementById('tab-fork')?.scrollIntoView({ block: 'nearest' });
        }}
      >
        Fork <kbd class="wide">F</kbd>
      </button>
      <button type="button" class="button plain" onClick={themeSwitched}>
        Theme
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          shareOpen.value = true;
        }}
      >
        Share
      </button>
    </header>
  );
}

const rulesOf = ({ release }: HashMismatch): string =>
  release === null ? '' : `: the journal is by the rules of orrery ${release}`;

/** The journal is executed once when it is opened: each recorded hash is compared. */
function Verified() {
  const done = progress.value;
  if (done === null || verified.value === 'running') {
    const share = done === null ? 0 : done.bytes / Math.max(1, done.totalBytes);
    return (
      <span class="chip" role="status">
        executing <progress value={share} max={1} aria-label="Part of the journal executed" />
        {(share * 100).toFixed(0)} %
      </span>
    );
  }
  if (verified.value === 'failed') {
    const text =
      done.mismatch === null
        ? `stops after command ${count(done.seq)}: ${done.fault ?? ''}`
        : `✗ ${done.mismatch.what} differs after command ${count(done.mismatch.seq)}${rulesOf(done.mismatch)}`;
    return (
      <span class="chip error" role="status" title={text}>
        {text}
      </span>
    );
  }
  const hashes = done.checkpoints + done.chainHashes;
  const text =
    verified.value === 'ok' ? 'verified' : done.torn === null ? 'not closed' : 'torn end';
  return (
    <span
      class={`chip ${verified.value === 'ok' ? 'ok' : 'warn'}`}
      role="status"
      title={`${count(hashes)} recorded hashes were computed again`}
      id="verified"
    >
      {verified.value === 'ok' ? '✓ ' : ''}
      {text} · {count(hashes)} {hashes === 1 ? 'hash' : 'hashes'}
      <span class="wide">
        · chain <code>{shortHash(done.chainHash ?? '–')}</code>
      </span>
    </span>
  );
}
