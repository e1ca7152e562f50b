/**
 * Counts of answers for Prometheus: latencies by route, and answers by route and status. They are
 * plain numbers until a scrape, because the counters of `prom-client` cost more than the rest of
 * the accounting of a request.
 */
import { type Metric, type Registry } from 'prom-client';

/** Upper bounds in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

interface OfRoute {
  /** Answers of each interval, the last one without a bound. */
  readonly intervals: number[];
  sum: number;
  readonly byStatus: Map<number, number>;
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

export class RequestCounts {
  private readonly routes = new Map<string, OfRoute>();

  constructor(registry: Registry) {
    const register = (name: string, help: string, type: string, samples: () => Sample[]): void => {
      const get = () => Promise.resolve({ name, help, type, values: samples(), aggregator: 'sum' });
      // A registry calls nothing but `get`, which is public.
      registry.registerMetric({ name, get } as unknown as Metric);
    };
    register('orrery_http_seconds', 'Request latency by route', 'histogram', () =>
      this.latencies('orrery_http_seconds'),
    );
    register('orrery_http_requests_total', 'Replies by route and status', 'counter', () =>
      this.statuses(),
    );
  }

  add(route: string, status: number, seconds: number): void {
    let counts = this.routes.get(route);
    if (counts === undefined) {
      counts = { intervals: BOUNDS.map(() => 0), sum: 0, byStatus: new Map() };
      counts.intervals.push(0);
      this.routes.set(route, counts);
    }
    const { intervals, byStatus } = counts;
    let i = 0;
    while (i < BOUNDS.length && seconds > (BOUNDS[i] ?? 0)) i += 1;
    intervals[i] = (intervals[i] ?? 0) + 1;
    counts.sum += seconds;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  private latencies(name: string): Sample[] {
    return [...this.routes].flatMap(([route, { intervals, sum }]) => {
      let count = 0;
      const buckets = intervals.map((answers, i): Sample => {
        count += answers;
        return {
          metricName: `${name}_bucket`,
          labels: { le: BOUNDS[i] ?? '+Inf', route },
          value: count,
        };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { route }, value: sum },
        { metricName: `${name}_count`, labels: { route }, value: count },
      ];
    });
  }

  private statuses(): Sample[] {
    return [...this.routes].flatMap(([route, { byStatus }]) =>
      [...byStatus].map(([status, value]) => ({
        labels: { route, status: String(status) },
        value,
      })),
    );
  }
}
