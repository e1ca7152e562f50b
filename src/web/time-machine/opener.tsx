/** First page without a journal: a file is dropped or chosen. Nothing leaves the machine. */
import { useSignal } from '@preact/signals';
import { NO_ABOUT } from '../../design/page-elements.ts';
import { openSource, problem } from './store.ts';

export function openFiles(files: readonly File[]): void {
  const [first] = files;
  if (first === undefined) return;
  const byName = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const name = first.name.replace(/\.orrery$/, '');
  void openSource({ kind: 'files', files: byName }, { ...NO_ABOUT, name });
}

export function Opener() {
  const over = useSignal(false);
  return (
    <main class="open">
      <h1>Orrery · time machine</h1>
      <p>
        Opens a journal, executes it in this page, and shows the exchange at any instant. The file
        stays on this machine.
      </p>
      <div
        class={`drop${over.value ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => {
          over.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          over.value = false;
          openFiles([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <label>
          Drop a journal here, or choose it:{' '}
          <input
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              openFiles([...(currentTarget.files ?? [])]);
              // The same file can be chosen again.
              currentTarget.value = '';
            }}
          />
        </label>
        <p class="small soft">
          <code>journal.orrery</code> of a run, or the segments of a served exchange from the first
        </p>
      </div>
      {problem.value === null ? null : (
        <p class="error" role="alert">
          {problem.value}
        </p>
      )}
    </main>
  );
}
