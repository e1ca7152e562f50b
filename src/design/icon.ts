/** Icon of all pages, an orrery: a sun, an orbit and a planet. It shows on light and dark tabs. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="16" cy="16" r="12" fill="none" stroke="#64748b" stroke-width="2"/>
<circle cx="16" cy="16" r="5" fill="#d97706"/><circle cx="26" cy="10" r="3.5" fill="#2563eb"/>
</svg>`;

/** As a `data:` address, so that a page of one file has it. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
