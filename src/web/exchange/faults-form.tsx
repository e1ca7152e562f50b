/** Faults of a test server: what the next requests suffer (`POST /sim/faults`). */
import { signal } from '@preact/signals';
import { ENDPOINT_IDS } from '../../contract/endpoints.ts';
import { ask, messageOf } from './requests.ts';
import { simToken } from './session.ts';

const EFFECTS = {
  timeout: 'answered by 408, not carried out',
  nonceStore: 'login fails with 500',
  rateLimit: 'answered by 429, not carried out',
  unavailable: 'answered by 503, not carried out',
  internalError: 'answered by 500, not carried out',
  lostAnswer: 'carried out, but the connection ends without an answer',
  latency: 'answered later',
} as const;
type Fault = keyof typeof EFFECTS;

const fault = signal<Fault>('lostAnswer');
const times = signal('1');
const endpoint = signal('');
const latencyMs = signal('1000');
const outcome = signal<{ readonly text: string; readonly isBad: boolean } | null>(null);

const request = () => ({
  fault: fault.value,
  times: Number(times.value),
  ...(endpoint.value === '' ? {} : { endpoint: endpoint.value }),
  ...(fault.value === 'latency' ? { latencyMs: Number(latencyMs.value) } : {}),
});

async function arm(): Promise<void> {
  const text = effectText();
  try {
    await ask('POST', '/sim/faults', { body: request(), token: simToken.value });
    outcome.value = { text: `Armed: ${text}`, isBad: false };
  } catch (error) {
    outcome.value = { text: messageOf(error), isBad: true };
  }
}

/** Effect of the fault, before it is armed. */
function effectText(): string {
  const of = endpoint.value === '' ? 'any endpoint' : endpoint.value;
  if (times.value === '0') return `no request to ${of} suffers this fault any more`;
  const later = fault.value === 'latency' ? ` by ${latencyMs.value} ms` : '';
  const count = times.value === '1' ? '1 request' : `${times.value} requests`;
  return `the next ${count} to ${of}: ${EFFECTS[fault.value]}${later}`;
}

export function FaultsForm() {
  if (simToken.value === null) return null;
  const isWrong = !/^\d{1,7}$/.test(times.value) || !/^\d{1,5}$/.test(latencyMs.value);
  return (
    <form
      class="row-form"
      id="faults"
      onSubmit={(event) => {
        event.preventDefault();
        void arm();
      }}
    >
      <h2>Faults of this test server</h2>
      <select
        aria-label="Fault"
        value={fault.value}
        onChange={({ currentTarget }) => {
          fault.value = currentTarget.value as Fault;
        }}
      >
        {Object.keys(EFFECTS).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <input
        class="short"
        aria-label="Number of requests; 0 disarms"
        inputMode="numeric"
        value={times.value}
        onInput={({ currentTarget }) => {
          times.value = currentTarget.value.trim();
        }}
      />
      <select
        aria-label="Endpoint"
        value={endpoint.value}
        onChange={({ currentTarget }) => {
          endpoint.value = currentTarget.value;
        }}
      >
        <option value="">any endpoint</option>
        {ENDPOINT_IDS.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {fault.value === 'latency' ? (
        <input
          class="short"
          aria-label="Delay in ms"
          inputMode="numeric"
          value={latencyMs.value}
          onInput={({ currentTarget }) => {
            latencyMs.value = currentTarget.value.trim();
          }}
        />
      ) : null}
      <button type="submit" class="button" disabled={isWrong}>
        Arm
      </button>
      <p class="small">Effect: {isWrong ? 'the numbers cannot be read' : effectText()}.</p>
      {outcome.value === null ? null : (
        <p class={outcome.value.isBad ? 'danger' : ''} role="status">
          {outcome.value.text}
        </p>
      )}
    </form>
  );
}
