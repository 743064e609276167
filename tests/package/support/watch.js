// The program that watches a file of policies, in every runtime with Node's API, and what it says.
export const watchProgram = {
  path: 'tests/package/support/watch-program.js',
  output:
    [
      ...['refused ENOENT', 'applied 5', 'applied 6', 'refused syntax', 'applied 7'],
      ...['refused ENOENT', 'applied 8', 'unchanged', 'open'],
    ].join(', ') + '\n',
};
