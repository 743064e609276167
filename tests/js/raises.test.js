// What a raised capacity does to a balance: by `onRaise` of a policy, once for each raise, and by that of setTier.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clocked, thrown } from './support/limiter.js';

const bucket = (capacity, rest = {}) => ({ capacity, refillPerSecond: 0, ...rest });
const modes = ['keep', 'fill', 'proportional', 'add'];

/** A limiter whose default has that mode, and how many tokens a client has. */
function raised(capacity, onRaise, options = {}) {
  const { limiter, take, clock } = clocked({ default: bucket(capacity, { onRaise }) }, options);
  const become = (larger, rest = {}) =>
    limiter.setPolicies({ default: bucket(larger, { onRaise, ...rest }) });
  return { limiter, take, clock, become, left: (client) => limiter.peek(client).remaining };
}

// ---- The four modes --------------------------------------------------------------------------------------------------

test('case 11: a raise and a lowered capacity, as reported and as enforced', () => {
  const per20 = (capacity) => ({
    default: { capacity, refill: { tokens: capacity, seconds: 20 }, onRaise: 'keep' },
  });
  const first = clocked({ default: { capacity: 16, refill: { tokens: 10, seconds: 20 } } });
  first.take('k', 0, 3);
  first.limiter.setPolicies({ default: { capacity: 16, refill: { tokens: 1000, seconds: 20 } } });
  const next = first.take('k', 0);
  assert.deepEqual([next.allowed, next.remaining], [true, 12]);

  const second = clocked(per20(20));
  second.limiter.setPolicies(per20(10));
  const twelve = Array.from({ length: 12 }, () => second.take('k', 0));
  assert.equal(twelve.filter(({ allowed }) => allowed).length, 10);
  assert.deepEqual([...new Set(twelve.map(({ limit }) => limit))], [10]);

  const third = clocked(per20(20));
  third.take('k', 0, 20);
  third.limiter.setPolicies(per20(40));
  assert.equal(third.take('k', 0).remaining, 0);
});

for (const [onRaise, spentAll, spentSome] of [
  ['keep', 0, 4],
  ['fill', 25, 25],
  ['proportional', 0, 10],
  ['add', 15, 19],
]) {
  test(`${onRaise}: capacity 10 becomes 25 for a client with none left and for one with 4`, () => {
    const { take, become, left } = raised(10, onRaise);
    take('none', 0, 10);
    take('four', 0, 6);
    become(25);
    assert.deepEqual([left('none'), left('four'), left('new')], [spentAll, spentSome, 25]);
    for (const [client, tokens] of [
      ['none', spentAll],
      ['four', spentSome],
    ]) {
      if (tokens > 0) assert.equal(take(client, 0, tokens).allowed, true);
      assert.equal(take(client, 0).allowed, false);
    }
  });

  test(`${onRaise}: once for each raise, however often the client and others are decided between`, () => {
    const { limiter, take, become, left } = raised(10, onRaise);
    const client = limiter.client('k');
    take('k', 0, 10);
    become(25);
    limiter.peek('k');
    client.peek();
    // Denied, and counted by the raise all the same.
    assert.equal(limiter.allow('k', 26), false);
    const after = left('k');
    assert.equal(after, spentAll);
    if (after > 0) assert.equal(client.allow(after), true);
    assert.equal(left('k'), 0);
    // The same document anew is no raise, nor is one that only refills faster.
    become(25);
    assert.deepEqual(limiter.allowMany(['k', 'k', 'other', 'k']), [false, false, true, false]);
    become(25, { refillPerSecond: 1e-3 });
    assert.equal(client.allow(), false);
    // Another is.
    become(50);
    assert.equal(left('k'), { keep: 0, fill: 50, proportional: 0, add: 25 }[onRaise]);
  });

  test(`${onRaise}: lowering clamps, and gives nothing back where it is raised again`, () => {
    const { take, become, left } = raised(20, 'keep');
    take('k', 0, 5);
    become(10, { onRaise });
    assert.equal(left('k'), 10);
    take('k', 0, 2);
    become(4, { onRaise });
    assert.equal(left('k'), 4);
  });
}

test('a client that is first seen again many revisions later is raised once, by the difference to what judged it last', () => {
  for (const [onRaise, expected] of [
    ['keep', 2],
    ['fill', 40],
    ['proportional', 8],
    ['add', 32],
  ]) {
    const { take, become, left } = raised(10, onRaise);
    take('k', 0, 8);
    for (const capacity of [20, 5, 80, 30, 40]) become(capacity);
    assert.equal(left('k'), expected, onRaise);
  }
});

test('the mode is that of the policy now in force', () => {
  const { take, become, left } = raised(10, 'fill');
  take('k', 0, 10);
  become(20, { onRaise: 'keep' });
  assert.equal(left('k'), 0);
  take('k', 0);
  become(30, { onRaise: 'add' });
  assert.equal(left('k'), 10);
});

test('rounding never makes a token: what is moved is rounded down, what was spent up', () => {
  // 1 of 3, 100 times over: a third of every capacity, and never more.
  for (const capacity of [4, 7, 10, 100, 1000.5]) {
    const { take, become, left } = raised(3, 'proportional');
    take('k', 0, 2);
    become(capacity);
    assert.equal(left('k'), Math.floor(capacity / 3), `${capacity}`);
  }
  // A rate in thirds and one in sevenths: the unit changes, and what is between two of the new ones is lost.
  const { limiter, take } = clocked({
    default: { capacity: 3, refill: { tokens: 1, seconds: 3 }, onRaise: 'add' },
  });
  take('k', 0, 3);
  limiter.setPolicies({
    default: { capacity: 5, refill: { tokens: 1, seconds: 7 }, onRaise: 'add' },
  });
  // 2 tokens and a microsecond's worth of one by the new rate are no three.
  assert.equal(take.peek('k', 0.001, 3).allowed, false);
  assert.equal(take.peek('k', 6999.999, 3).allowed, false);
  assert.equal(take('k', 7000, 3).allowed, true);
});

test('the same, each of several limits by its own mode', () => {
  const policies = (capacity) => ({
    default: {
      limits: modes.map((onRaise) => ({ name: onRaise, ...bucket(capacity, { onRaise }) })),
    },
  });
  const { limiter, take } = clocked(policies(10));
  take('k', 0, 6);
  limiter.setPolicies(policies(25));
  assert.deepEqual(
    limiter.peek('k').limits.map(({ remaining }) => remaining),
    [4, 25, 10, 19],
  );
  const beside = { onRaise: 'fill', limits: [{ name: 'keep', ...bucket(50) }] };
  limiter.setPolicies({ default: beside });
  assert.equal(limiter.peek('k').remaining, 50);
});

// ---- Tiers -----------------------------------------------------------------------------------------------------------

const tiers = {
  default: bucket(5, { onRaise: 'fill' }),
  tiers: { small: bucket(10, { onRaise: 'fill' }), large: bucket(40, { onRaise: 'fill' }) },
};

test('moving back and forth between tiers of the call never refills', () => {
  const { limiter, take } = clocked(tiers);
  take('k', 0, 10, 'small');
  const client = limiter.client('k', 'large');
  for (let i = 0; i < 5; i += 1) {
    assert.equal(limiter.allow('k', 1, 'small'), false);
    assert.equal(limiter.allow('k', 1, 'large'), false);
    assert.equal(client.allow(), false);
    assert.equal(limiter.allow('k'), false);
    assert.deepEqual(limiter.allowMany(['k', 'k'], 1, 'large'), [false, false]);
  }
});

test('a raise of the tier that judged last counts, whichever tier asks in between', () => {
  const { limiter, take } = clocked(tiers);
  const raise = (capacity) =>
    limiter.setPolicies({
      ...tiers,
      tiers: { ...tiers.tiers, large: bucket(capacity, { onRaise: 'fill' }) },
    });
  take('k', 0, 10, 'small');
  raise(80);
  // The balance comes from another tier's limit: that is a change of tier, which keeps it.
  assert.equal(limiter.peek('k', { tier: 'large' }).remaining, 0);
  assert.equal(limiter.allow('k', 1, 'large'), false);
  raise(90);
  assert.equal(limiter.peek('k', { tier: 'large' }).remaining, 90);
});

test('setTier keeps the balance, unless it is told otherwise', () => {
  for (const [onRaise, expected] of [
    [undefined, 4],
    ['keep', 4],
    ['fill', 40],
    ['proportional', 16],
    ['add', 34],
  ]) {
    const { limiter, take } = clocked(tiers);
    limiter.setTier('k', 'small');
    take('k', 0, 6);
    limiter.setTier('k', 'large', { onRaise });
    assert.equal(limiter.peek('k').remaining, expected, onRaise);
    assert.equal(limiter.client('k').peek().remaining, expected, onRaise);
    assert.equal(take('k', 0).remaining, expected - 1);
  }
});

test('onRaise of setTier is used by the next decision of the own tier, admitted or not, and by that alone', () => {
  const { limiter, take } = clocked(tiers);
  limiter.setTier('k', 'small');
  take('k', 0, 10);
  limiter.setTier('k', 'large', { onRaise: 'fill' });
  // Neither calls of another tier, nor refunds, nor peeking use it.
  assert.equal(limiter.allow('k', 1, 'small'), false);
  limiter.refund('k', 1, 'small');
  limiter.peek('k');
  assert.equal(take('k', 0, 41).allowed, false);
  assert.equal(limiter.peek('k').remaining, 40);
  assert.equal(take('k', 0, 40).allowed, true);
  assert.equal(limiter.allow('k'), false);
  // Not anew by going back and forth, through a tier of the call or by setTier.
  limiter.allow('k', 1, 'small');
  assert.equal(limiter.allow('k'), false);
  limiter.setTier('k', 'large', { onRaise: 'fill' });
  assert.equal(limiter.allow('k'), false);
});

test('onRaise of setTier counts for a real change only, and the last one counts', () => {
  const { limiter, take } = clocked({ ...tiers, clients: { k: 'small' } });
  take('k', 0, 10);
  // It is in that tier already, by the document.
  limiter.setTier('k', 'small', { onRaise: 'fill' });
  assert.equal(limiter.peek('k').remaining, 0);
  limiter.setTier('k', 'large', { onRaise: 'fill' });
  // This one changes nothing, and takes nothing back.
  limiter.setTier('k', 'large');
  assert.equal(limiter.peek('k').remaining, 40);
  // This one does.
  limiter.setTier('k', null);
  limiter.setTier('k', 'large');
  assert.equal(limiter.peek('k').remaining, 0);
  limiter.setTier('k', null, { onRaise: 'fill' });
  assert.equal(limiter.peek('k').remaining, 0, 'the capacity is no larger');
});

test('onRaise of setTier reaches each of several limits whose capacity grows', () => {
  const limits = (burst, daily) => ({
    limits: [
      { name: 'burst', ...bucket(burst) },
      { name: 'daily', ...bucket(daily) },
    ],
  });
  const { limiter, take } = clocked({
    default: bucket(1),
    tiers: { a: limits(10, 100), b: limits(20, 50) },
  });
  limiter.setTier('k', 'a');
  take('k', 0, 6);
  limiter.setTier('k', 'b', { onRaise: 'fill' });
  assert.deepEqual(
    limiter.peek('k').limits.map(({ remaining }) => remaining),
    [20, 50],
  );
  take('k', 0, 20);
  limiter.setTier('k', 'a', { onRaise: 'fill' });
  assert.deepEqual(
    limiter.peek('k').limits.map(({ remaining }) => remaining),
    [0, 100],
  );
});

test('setTier refuses other options, and changes nothing then', () => {
  const { limiter } = clocked(tiers);
  for (const [options, name, message] of [
    [{ onRaise: 'double' }, 'TypeError', /^onRaise must be "keep" or "fill" or .*; got "double"$/],
    [{ onRaise: 0 }, 'TypeError', /^onRaise must be .*; got 0$/],
    [{ onRaise: null }, 'TypeError', /^onRaise must be .*; got null$/],
    [{ onraise: 'fill' }, 'TypeError', /"onraise"/],
    ['fill', 'TypeError', /^options must be an object such as \{ onRaise \}; got "fill"$/],
    [null, 'TypeError', /^options must be/],
  ]) {
    const error = thrown(() => limiter.setTier('k', 'large', options));
    assert.equal(error.name, name);
    assert.match(error.message, message);
  }
  assert.equal(limiter.peek('k').tier, null);
});

test('onRaise of setTier is not lost to what is settled or refunded before the next decision', () => {
  for (const between of [
    (limiter, reservation) => reservation.settle(4),
    (limiter, reservation) => reservation.cancel(),
    (limiter) => limiter.refund('acme'),
  ]) {
    const { limiter } = clocked({
      default: { capacity: 5, refillPerSecond: 0 },
      tiers: { pro: { capacity: 100, refillPerSecond: 0 } },
    });
    const reservation = limiter.reserve('acme', { cost: 5 });
    limiter.setTier('acme', 'pro', { onRaise: 'fill' });
    between(limiter, reservation);
    assert.equal(limiter.allow('acme', 100), true);
    assert.equal(limiter.allow('acme'), false);
  }
});

test('onRaise of setTier is for the move alone: what a document raises afterwards goes by the document', () => {
  const document = (pro) => ({ default: bucket(5), tiers: { pro: bucket(pro) } });
  // The move was made by a decision that names the tier.
  const moved = clocked(document(10)).limiter;
  moved.allow('acme', 5);
  moved.setTier('acme', 'pro', { onRaise: 'fill' });
  moved.check('acme', { tier: 'pro' });
  moved.setPolicies(document(100));
  assert.equal(moved.peek('acme').remaining, 0);
  // There was none: a tier that is not there is the default.
  const stayed = clocked(document(10)).limiter;
  stayed.allow('acme', 5);
  stayed.setTier('acme', 'gone', { onRaise: 'fill' });
  stayed.setPolicies({ default: bucket(50) });
  assert.equal(stayed.peek('acme').remaining, 0);
});

test('what setTier asks for is used once, also where a document that looks back takes the tier away', () => {
  const prorated = (capacity) => bucket(capacity, { accrual: 'prorated' });
  const { limiter, clock } = clocked({ default: prorated(100), tiers: { pro: prorated(200) } });
  limiter.allow('acme', 100);
  clock.ms = 1000;
  limiter.setTier('acme', 'pro', { onRaise: 'fill' });
  clock.ms = 2000;
  // Until now it was that tier's, full; from here on the default's, which keeps balances.
  limiter.setPolicies({ default: prorated(300) });
  assert.equal(limiter.peek('acme').remaining, 200);
  clock.ms = 3000;
  assert.equal(limiter.check('acme', { cost: 50 }).remaining, 150);
});

test('setTier from one tier that is not there to another raises nothing, whatever a document has raised', () => {
  for (const accrual of ['at-next', 'prorated']) {
    const of = (capacity) => bucket(capacity, { accrual });
    const { limiter, clock } = clocked({ default: of(100), tiers: { small: of(5) } });
    limiter.setTier('acme', 'small');
    limiter.allow('acme', 5);
    clock.ms = 1000;
    limiter.setPolicies({ default: of(100) });
    clock.ms = 2000;
    limiter.setTier('acme', null, { onRaise: 'fill' });
    assert.equal(limiter.peek('acme').remaining, 0, accrual);
  }
});
