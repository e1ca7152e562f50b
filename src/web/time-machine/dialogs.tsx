/** Dialogs: keys, sharing, bookmarks. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count } from '../exact-text.ts';
import { download, pageWith } from '../page-parts.ts';
import { switchTheme } from '../theme.ts';
import { KEYS, keyName } from './key-map.ts';
import { about, engine, seekTo, seq, theme } from './store.ts';
import { addBookmark, bookmarks, removeBookmark } from './bookmarks.ts';
import { breakpoints } from './breakpoints.tsx';

export const helpOpen = signal(false);
export const shareOpen = signal(false);
export const markOpen = signal(false);

export function themeSwitched(): void {
  switchTheme();
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

export function Dialogs() {
  return (
    <>
      {helpOpen.value ? <Help /> : null}
      {shareOpen.value ? <Share /> : null}
      {markOpen.value ? <Marks /> : null}
    </>
  );
}

function Help() {
  const close = (): void => {
    helpOpen.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {KEYS.map(([keys, action, text]) => (
          <>
            <dt key={action}>
              {keys.map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <End onClose={close} />
    </Dialog>
  );
}

function End({
  onClose,
  children,
}: {
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="end">
      {children}
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

function Share() {
  const [text, setText] = useState('');
  const close = (): void => {
    shareOpen.value = false;
  };
  const write = async (): Promise<void> => {
    setText('Packing …');
    try {
      const { journal, base } = await engine.packed();
      const shown = {
        ...about.value,
        seq: seq.value,
        bookmarks: bookmarks.value,
        breakpoints: breakpoints.value.map(({ text: expression }) => expression),
      };
      const page = pageWith(shown, journal, base);
      download(page, `${about.value.name.replaceAll(/[^\w.-]+/g, '-')}.html`);
      setText(`Written: ${count(page.size)} bytes.`);
    } catch (error) {
      setText((error as Error).message);
    }
  };
  return (
    <Dialog title="Share" onClose={close}>
      <div class="stack">
        <p>
          One HTML file with the journal and the engine. It opens by a double click, loads nothing,
          and compares all recorded hashes itself.
        </p>
        <p class="soft">
          It contains every account and order of the journal. To replace them, write the file with{' '}
          <code>orrery inspect … --html file.html --mask</code>.
        </p>
        <p role="status">{text}</p>
      </div>
      <End onClose={close}>
        <button type="button" class="button primary" onClick={() => void write()}>
          Write the file
        </button>
      </End>
    </Dialog>
  );
}

function Marks() {
  const note = useRef<HTMLInputElement>(null);
  const close = (): void => {
    markOpen.value = false;
  };
  const write = (): void => {
    const json = JSON.stringify({ journal: about.value.name, bookmarks: bookmarks.value }, null, 2);
    download(new Blob([json], { type: 'application/json' }), 'bookmarks.json');
  };
  return (
    <Dialog title="Bookmarks" onClose={close}>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void addBookmark(note.current?.value ?? '');
          close();
        }}
      >
        <label>
          Note for seq {count(seq.value)} <input ref={note} maxLength={200} autoFocus />
        </label>
        <button class="button primary">Mark</button>
      </form>
      <ul class="stack">
        {bookmarks.value.map(({ seq: at, note: text }) => (
          <li key={at} class="actions">
            <button
              type="button"
              class="link"
              onClick={() => {
                seekTo(at);
                close();
              }}
            >
              seq {count(at)}
            </button>
            <span>{text}</span>
            <span class="space" />
            <button
              type="button"
              class="button plain"
              aria-label={`Remove the bookmark of ${count(at)}`}
              onClick={() => {
                removeBookmark(at);
              }}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <End onClose={close}>
        <button
          type="button"
          class="button"
          disabled={bookmarks.value.length === 0}
          onClick={write}
        >
          Export
        </button>
      </End>
    </Dialog>
  );
}
