/** A list of tabs: arrow keys move, as in the pattern of WAI-ARIA. */
export interface TabItem<T extends string> {
  readonly id: T;
  readonly title: string;
  readonly count?: number;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly items: readonly TabItem<T>[];
  readonly chosen: T;
  readonly onChoose: (id: T) => void;
}

export function Tabs<T extends string>({ label, items, chosen, onChoose }: TabsProps<T>) {
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    if (step === 0) return;
    event.preventDefault();
    const at = items.findIndex(({ id }) => id === chosen);
    const next = (at + step + items.length) % items.length;
    const item = items[next];
    if (item === undefined) return;
    onChoose(item.id);
    const tab = event.currentTarget.children[next];
    if (tab instanceof HTMLElement) tab.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {items.map(({ id, title, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`tab-${id}`}
          aria-selected={id === chosen}
          aria-controls={`panel-${id}`}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => {
            onChoose(id);
          }}
        >
          {title}
          {count === undefined ? null : <small>{count}</small>}
        </button>
      ))}
    </div>
  );
}
