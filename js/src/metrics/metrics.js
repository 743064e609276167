/**
 * Metrics of decisions: for OpenTelemetry, and as text for Prometheus.
 * @module
 */

/**
 * @typedef {import('./otel.js').Meter} Meter
 * @typedef {import('./otel.js').OtelMetrics} OtelMetrics
 * @typedef {import('./otel.js').OtelOptions} OtelOptions
 * @typedef {import('./prometheus.js').PrometheusMetrics} PrometheusMetrics
 * @typedef {import('./prometheus.js').PrometheusOptions} PrometheusOptions
 * @typedef {import('./types.js').MetricsOptions} MetricsOptions
 */

export { otelMetrics } from './otel.js';
export { prometheusContentType, prometheusMetrics, prometheusText } from './prometheus.js';
