// The shared vectors (tests/vectors/decisions.json) through the package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ClockError, TierLimiter } from 'tierlimit';

const vectors = new URL('../vectors/decisions.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(vectors, 'utf8'));

for (const { name, steps } of cases) {
  test(name, () => {
    const performer = new Performer();
    performer.all(steps);
    performer.limiter.dispose();
  });
}

class Performer {
  limiter = null;
  nowMs = 0;

  all(steps) {
    for (const step of steps) this.one(step);
  }

  one(step) {
    if (step.policies) this.setPolicies(step.policies);
    else if (step.setTier) this.limiter.setTier(...step.setTier);
    else if (step.repeat) for (let i = 0; i < step.repeat; i += 1) this.all(step.steps);
    else this.decide(step);
  }

  setPolicies(policies) {
    if (this.limiter) this.limiter.setPolicies(policies);
    else this.limiter = new TierLimiter({ policies, now: () => this.nowMs });
  }

  decide({ check, peek, cost, tier, atMs, untilMs = atMs, everyMs = 1, times = 1, expect }) {
    const verb = peek === undefined ? 'check' : 'peek';
    const ask = () => this.limiter[verb](check ?? peek, { cost, tier });
    for (let at = atMs; at <= untilMs; at += everyMs) {
      this.nowMs = at;
      for (let time = 1; time <= times; time += 1) {
        const where = `${verb} ${check ?? peek} at ${at} ms`;
        if (expect.error) {
          assert.equal(expect.error, 'clock');
          assert.throws(ask, ClockError, where);
        } else assert.deepEqual(pick(ask(), Object.keys(expect)), expect, where);
      }
    }
  }
}

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
