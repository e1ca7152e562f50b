/** What if: a fork with other commands, and how it differs. */
export function WhatIf() {
  return <p class="note">Not here yet.</p>;
}
