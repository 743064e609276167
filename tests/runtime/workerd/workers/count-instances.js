// To be imported before what is counted.
const { Instance } = WebAssembly;
let count = 0;

WebAssembly.Instance = function counting(...values) {
  count += 1;
  return new Instance(...values);
};

/** How many instances of WebAssembly modules were made. */
export const instances = () => count;
