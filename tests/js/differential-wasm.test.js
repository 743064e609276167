// The npm package against the independent model: every field of every answer, bit for bit.
import * as wasm from '../model/wasm.js';
import { holdToModel } from '../model/suite.js';

holdToModel(wasm);
