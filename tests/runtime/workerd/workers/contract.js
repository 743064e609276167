import * as tierlimit from 'tierlimit';

import { contract } from './limiter.js';

export default {
  fetch() {
    return Response.json(contract(tierlimit));
  },
};
