// The path as a part of a client's name: what routers may take for one path is one.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { path } from 'tierlimit/clients';

import { Random } from '../model/random.js';
import { thrown } from './support/limiter.js';
import { clientOf } from './support/source.js';

const nameOf = (/** @type {string} */ url, extract = path()) => clientOf(extract, null, {}, url);

test('case 53: one path, whatever its case, slashes, dots and encoding', () => {
  for (const url of [
    ...['/login', '/LOGIN', '/login/', '//login', '/./login', '/%6Cogin', '/%6cogin', '/%4cogin'],
    ...['/login//', '///login', '/x/../login', '/x/%2e%2E/login', '/%2e/login', '/../login/.'],
    ...['/login?a=b', '/login#a', '/login/?', '/login?a=/x/..', '\\login', '/x\\..\\login'],
    ...['http://example.com/login', 'HTTPS://user@example.com:8443//LOGIN?x', 'login'],
    'http://evil/login',
  ]) {
    assert.equal(nameOf(url), 'path:/login', url);
  }
});

test('other paths are others', () => {
  const urls = [
    '/',
    '/logi',
    '/loginx',
    '/log/in',
    '/login/x',
    '/login.',
    '/.login',
    '/...',
    '/..login',
  ];
  const encoded = ['/%2flogin', '/login%2F', '/login%5c', '/login%3F', '/login%23', '/%256cogin'];
  const more = [
    '/login%00',
    '/login%20',
    '/login;x',
    '/login%zz',
    '/login%',
    '/login%6',
    '/%c3%a9',
  ];
  const all = [...urls, ...encoded, ...more];
  const names = new Set(all.map((url) => nameOf(url)));
  assert.equal(names.size, all.length);
  assert.ok(!names.has('path:/login'));
  for (const [url, name] of [
    ['/a%2fB', 'path:/a%2fb'],
    ['/a%2FB', 'path:/a%2fb'],
    ['/a%21~%7e', 'path:/a!~~'],
    ['/%c3%A9', 'path:/%c3%a9'],
    ['/%256C', 'path:/%256c'],
  ]) {
    assert.equal(nameOf(url), name);
  }
});

test('what has no path has the first', () => {
  for (const url of [
    '',
    '/',
    '//',
    '/.',
    '/..',
    '/a/..',
    '?x',
    '#x',
    'http://example.com',
    'http://example.com?x',
  ]) {
    assert.equal(nameOf(url), 'path:/', url);
  }
  assert.equal(nameOf('*'), 'path:/*');
});

test('caseSensitive keeps case, and nothing else', () => {
  const by = path({ caseSensitive: true });
  assert.equal(nameOf('/LogIn', by), 'path:/LogIn');
  assert.equal(nameOf('//%4cogIn/', by), 'path:/LogIn');
  assert.equal(nameOf('/a%2fb', by), 'path:/a%2Fb');
  assert.equal(nameOf('/login', by), 'path:/login');
});

test('a path and what the URL parser makes of it are one, so that it does not matter what an adapter has', () => {
  const random = new Random(53);
  const pieces = [
    ...['/', '/', '/', '.', '..', 'a', 'B', '%2e', '%2E', '%61', '%2f', '%5C', '\\', '%', '~', '-'],
    ...[
      '!',
      '"',
      "'",
      '(',
      '*',
      ';',
      '=',
      '@',
      ':',
      '|',
      '{',
      '^',
      '`',
      '<',
      '%7C',
      '%7b',
      '%20',
      '%c3%a9',
    ],
  ];
  for (let i = 0; i < 20_000; i += 1) {
    let url = '/';
    for (let more = random.whole(0, 12); more > 0; more -= 1) url += random.pick(pieces);
    // With two slashes at the start it would be a host to the parser, so it gets it whole.
    const { href, pathname } = new URL(`http://example.com${url}`);
    for (const by of [path(), path({ caseSensitive: true })]) {
      const name = nameOf(url, by);
      assert.equal(nameOf(href, by), name, url);
      assert.equal(nameOf(pathname, by), name, url);
      // Once more changes nothing.
      if (!/%(%|.?%|.?$)/.test(url))
        assert.equal(nameOf(name.slice('path:'.length), by), name, url);
    }
  }
});

test('a path of any length is read', () => {
  assert.equal(nameOf(`${'/.'.repeat(3e5)}/login`), 'path:/login');
  assert.equal(nameOf(`/${'a/../'.repeat(2e5)}login`), 'path:/login');
  assert.equal(nameOf(`/login${'/'.repeat(1e6)}`), 'path:/login');
});

test('options that are not as they should be are refused', () => {
  for (const [options, message] of [
    [{ strict: true }, 'there is no option "strict"'],
    [{ caseSensitive: 1 }, 'caseSensitive must be a boolean; got 1'],
    [null, 'options must be an object such as { caseSensitive }; got null'],
  ]) {
    const error = thrown(() => path(options));
    assert.ok(error instanceof TypeError);
    assert.equal(error.message, message);
  }
});
