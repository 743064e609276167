// The native library against the independent model: every field of every answer, bit for bit.
import * as native from '../model/native.js';
import { holdToModel } from '../model/suite.js';

holdToModel(native);
