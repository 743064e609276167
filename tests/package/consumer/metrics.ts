// A program of a user of TypeScript who counts decisions: as main.ts, it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import type { Decision } from 'tierlimit';
import { rateLimit } from 'tierlimit/fetch';
import {
  otelMetrics,
  prometheusContentType,
  prometheusMetrics,
  prometheusText,
} from 'tierlimit/metrics';
import type {
  Meter,
  MetricsOptions,
  OtelMetrics,
  PrometheusMetrics,
  PrometheusOptions,
} from 'tierlimit/metrics';
import { poll } from 'tierlimit/policies';

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
const shared: MetricsOptions = {
  limiter,
  source: poll({ limiter, read: async () => null }),
  maxTiers: 10,
  retryAfterBoundsSeconds: [1, 10] as const,
};
const options: PrometheusOptions = {
  ...shared,
  labels: { limiter: 'api' },
  remainingBounds: false,
};
const prometheus: PrometheusMetrics = prometheusMetrics(options);
const text: Promise<string> = prometheusText(prometheus, prometheusMetrics());
const type: string = prometheusContentType;

declare const meter: Meter;
const otel: OtelMetrics = otelMetrics({ ...shared, meter, attributes: { limiter: 'api' } });
const record: (decision: Decision) => void = otel.record;
rateLimit({ limiter, onDecision: prometheus.record });
record(limiter.check('acme'));
otel.close();

// @ts-expect-error a label is a text
prometheusMetrics({ labels: { limiter: 5 } });
// @ts-expect-error it needs a meter
otelMetrics({ limiter });
// @ts-expect-error it is made by prometheusMetrics
prometheusText({ record });

export { text, type };
