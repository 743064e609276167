// Tries the contract in a context of its own: node --experimental-vm-modules context.js CORE, where CORE is a condition
// of the package's `#core`, or slim. vm.test.js runs it in a project, with a line behind it that says `result`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve as absolute, dirname, join } from 'node:path';
import vm from 'node:vm';

const [core] = process.argv.slice(2);
const manifestPath = createRequire(import.meta.url).resolve('tierlimit/package.json');
const root = dirname(manifestPath);
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
const wasm = new WebAssembly.Module(readFileSync(join(root, manifest.exports['./core.wasm'])));

// What such places have at least. Only the default compiles anything here.
const context = vm.createContext(
  { performance, crypto, wasm },
  { codeGeneration: { strings: false, wasm: core === 'default' } },
);

/** @type {Map<string, import('node:vm').Module>} */
const modules = new Map();

/** @param {string} path */
function load(path) {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const [file] = path.split('?');
  const made = file.endsWith('.wasm')
    ? new vm.SyntheticModule(
        ['default'],
        function setDefault() {
          this.setExport('default', wasm);
        },
        { context, identifier: path },
      )
    : // Without initializeImportMeta its import.meta is empty.
      new vm.SourceTextModule(readFileSync(file, 'utf8'), { context, identifier: path });
  modules.set(path, made);
  return made;
}

/**
 * @param {string} specifier
 * @param {import('node:vm').Module} from
 */
function resolve(specifier, from) {
  if (specifier === '#core') return load(join(root, manifest.imports['#core'][core]));
  if (specifier === 'contract') return load(absolute('contract.js'));
  if (specifier.startsWith('tierlimit')) {
    return load(join(root, manifest.exports[specifier.replace('tierlimit', '.')].default));
  }
  return load(join(dirname(from.identifier), specifier));
}

const tierlimit =
  core === 'slim'
    ? "import * as slim from 'tierlimit/slim'; const tierlimit = { ...slim, ...slim.withModule(wasm) };"
    : "import * as tierlimit from 'tierlimit';";
const main = new vm.SourceTextModule(
  `import { contract } from 'contract';
   ${tierlimit}
   for (const name of ['url', 'dirname', 'filename']) {
     if (import.meta[name] !== undefined) throw new Error('import.meta has ' + name);
   }
   for (const name of ['location', 'URL', 'fetch', 'process', 'TextEncoder']) {
     if (globalThis[name] !== undefined) throw new Error('there is a ' + name);
   }
   let compiles = true;
   try {
     new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
   } catch {
     compiles = false;
   }
   if (compiles !== ${core === 'default'}) throw new Error('compiling: ' + compiles);
   globalThis.outcomes = contract(tierlimit);`,
  { context, identifier: 'main' },
);
await main.link(resolve);
await main.evaluate();
/** @type {{ version: string, outcomes: Record<string, string> }} */
export const result = { version: process.versions.node, outcomes: context.outcomes };
