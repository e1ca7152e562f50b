/** Tables below the charts: commands with their events, orders, accounts, ledger, funding. */
import { bottomTab } from './bottom-tab.ts';
import { Accounts, Funding, Ledger, Orders } from './tables.tsx';
import { Events } from './events-tab.tsx';
import { TabPanel, Tabs } from '../tabs.tsx';
import { reload, scene } from './store.ts';
import { WhatIf } from './what-if.tsx';

export function BottomTabs() {
  const now = scene.value;
  const step = now?.step;
  const items = [
    { id: 'events' as const, title: 'Events', count: step?.events.length ?? 0 },
    { id: 'orders' as const, title: 'Orders', count: now?.orders.length ?? 0 },
    { id: 'accounts' as const, title: 'Accounts', count: now?.accountCount ?? 0 },
    { id: 'ledger' as const, title: 'Ledger', count: step?.ledger.entries.length ?? 0 },
    { id: 'funding' as const, title: 'Funding', count: step?.funding.length ?? 0 },
    { id: 'fork' as const, title: 'What if' },
  ];
  const chosen = bottomTab.value;
  return (
    <section class="pane" aria-label="Tables">
      <header>
        <Tabs
          label="Tables"
          items={items}
          chosen={chosen}
          onChoose={(id) => {
            bottomTab.value = id;
            // A scene lists the accounts only while they are shown.
            if (id === 'accounts') reload();
          }}
        />
      </header>
      <TabPanel of={chosen}>
        {chosen === 'events' ? <Events /> : null}
        {chosen === 'orders' ? <Orders /> : null}
        {chosen === 'accounts' ? <Accounts /> : null}
        {chosen === 'ledger' ? <Ledger /> : null}
        {chosen === 'funding' ? <Funding /> : null}
        {chosen === 'fork' ? <WhatIf /> : null}
      </TabPanel>
    </section>
  );
}
