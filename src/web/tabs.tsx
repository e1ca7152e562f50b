/**
 * Tabs of both screens, after the pattern of WAI-ARIA: one tab is in the order of the Tab key;
 * arrow keys, Home and End choose another one.
 */
import type { ComponentChildren } from 'preact';

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
    const at = items.findIndex(({ id }) => id === chosen);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // Keys of the screen may have another use for these.
    event.stopPropagation();
    const place = (next + items.length) % items.length;
    const item = items[place];
    if (item === undefined) return;
    onChoose(item.id);
    const tab = event.currentTarget.children[place];
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
          aria-controls={id === chosen ? `panel-${id}` : undefined}
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

/** The content of the chosen tab. */
export function TabPanel({
  of,
  children,
}: {
  readonly of: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="body" role="tabpanel" id={`panel-${of}`} aria-labelledby={`tab-${of}`} tabIndex={0}>
      {children}
    </div>
  );
}
