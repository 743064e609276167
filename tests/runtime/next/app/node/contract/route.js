import * as tierlimit from 'tierlimit';

import { contract } from '../../../contract.js';

export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

export const GET = () =>
  Response.json({ runtime: process.env.NEXT_RUNTIME, outcomes: contract(tierlimit) });
