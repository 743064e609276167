// That what OpenTelemetry declares fits what is declared here.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { at } from '../../../js/scripts/project.js';
import { run } from '../../../js/scripts/run.js';

const program = `
import { metrics } from '@opentelemetry/api';
import type { Meter } from '@opentelemetry/api';
import { otelMetrics } from 'tierlimit/metrics';

const meter: Meter = metrics.getMeter('my-service');
const { record, close } = otelMetrics({ meter, attributes: { limiter: 'api' }, remainingBounds: [0.5] });
export { close, record };
// @ts-expect-error it needs a meter
otelMetrics({});
// @ts-expect-error a provider is no meter
otelMetrics({ meter: metrics });
`;

test('the Meter of OpenTelemetry fits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tierlimit-types-'));
  try {
    const files = {
      'main.ts': program,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', strict: true },
          ...{ lib: ['es2022', 'dom'], types: [], noEmit: true, exactOptionalPropertyTypes: true },
          paths: {
            'tierlimit/metrics': [at('js/dist/types/metrics/metrics.d.ts')],
            '@opentelemetry/api': [at('tests/http/packages/node_modules/@opentelemetry/api')],
          },
        },
        files: ['main.ts'],
      }),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { status, output } = await run(at('node_modules/.bin/tsc'), ['--project', folder]);
    assert.equal(status, 0, output);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
