// The JavaScript side of embind, as much of it as embind.cpp calls for, and of what methods return (result.hpp). It takes
// the place of Emscripten's: 7 kB gzipped of pointers, inheritance, smart pointers, types and encodings go. A class has its
// constructors and methods (overloaded by the number of arguments), delete, isDeleted and Symbol.dispose.
//
// Beside the size: an argument of the wrong type is a TypeError instead of NaN or 0, a lone surrogate crosses unchanged
// (TextDecoder would replace it), and nothing leaks when a later argument is refused.
//
// Functions that C++ calls are written as `function`: Emscripten 3.1.6 takes no other.
mergeInto(LibraryManager.library, {
  $cText: function (pointer) {
    var text = '';
    while (HEAPU8[pointer]) text += String.fromCharCode(HEAPU8[pointer++]);
    return text;
  },

  // ---- Arguments ---------------------------------------------------------------------------------------------------

  // What typeof says of a type's values, by the address that stands for the type in C++.
  $argumentTypes: {},

  tierlimit_argument_type__deps: ['$cText', '$argumentTypes'],
  tierlimit_argument_type: function (type, name) {
    argumentTypes[type] = cText(name);
  },

  // A string in C++'s memory, the way embind takes it: its length, then its bytes. As WTF-8, which is UTF-8 that also has a
  // form for a lone surrogate, so that different strings stay different.
  $stringToWire: function (value) {
    // A code unit takes three bytes at the most: a pair takes four.
    var pointer = guard(_malloc)(4 + 3 * value.length);
    if (!pointer) throw new RangeError(`no memory for a string of ${value.length} code units`);
    var at = pointer + 4;
    for (var character of value) {
      var point = character.codePointAt(0);
      var more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
      HEAPU8[at++] = more ? (0xff << (7 - more)) | (point >> (6 * more)) : point;
      while (more--) HEAPU8[at++] = 0x80 | ((point >> (6 * more)) & 0x3f);
    }
    HEAPU32[pointer >> 2] = at - pointer - 4;
    return pointer;
  },

  // Calls C++ with `first` and the values; `types` are those of the values.
  $invoke__deps: ['$argumentTypes', '$stringToWire', '$getWasmTableEntry'],
  $invoke: function (invoker, first, types, values) {
    var strings = [];
    try {
      var wires = values.map((value, i) => {
        var type = argumentTypes[types[i]];
        if (typeof value != type) {
          throw new TypeError(`a ${type} is needed; got a ${typeof value}`);
        }
        // Of numbers and booleans a call makes what C++ takes.
        if (type != 'string') return value;
        var pointer = stringToWire(value);
        strings.push(pointer);
        return pointer;
      });
      return guard(() => getWasmTableEntry(invoker)(...first, ...wires))();
    } finally {
      if (!broken) strings.forEach((pointer) => guard(_free)(pointer));
    }
  },

  // ---- Results -----------------------------------------------------------------------------------------------------

  // The objects and arrays that are being written, the outermost first. That one has no end: results are put into it.
  $written: [[]],

  $write__deps: ['$cText', '$written'],
  $write: function (name, value) {
    var inside = written[written.length - 1];
    inside[name ? cText(name) : inside.length] = value;
    return value;
  },

  tierlimit_write_object__deps: ['$write', '$written'],
  tierlimit_write_object: function (name) {
    written.push(write(name, {}));
  },
  tierlimit_write_array__deps: ['$write', '$written'],
  tierlimit_write_array: function (name) {
    written.push(write(name, []));
  },
  tierlimit_write_end__deps: ['$written'],
  tierlimit_write_end: function () {
    written.pop();
  },
  tierlimit_write_number__deps: ['$write'],
  tierlimit_write_number: function (name, value) {
    write(name, value);
  },
  tierlimit_write_boolean__deps: ['$write'],
  tierlimit_write_boolean: function (name, value) {
    write(name, !!value);
  },
  tierlimit_write_null__deps: ['$write'],
  tierlimit_write_null: function (name) {
    write(name, null);
  },
  tierlimit_write_bytes__deps: ['$write'],
  tierlimit_write_bytes: function (name, at, size) {
    write(name, HEAPU8.slice(at, at + size));
  },
  tierlimit_write_text__deps: ['$write'],
  tierlimit_write_text: function (name, at, size) {
    var text = '';
    for (var end = at + size; at < end;) {
      var point = HEAPU8[at++];
      var more = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
      if (more) point &= 0x3f >> more;
      while (more--) point = (point << 6) | (HEAPU8[at++] & 0x3f);
      // No name is like that but one out of a snapshot that somebody made.
      text += String.fromCodePoint(point > 0x10ffff ? 0xfffd : point);
    }
    write(name, text);
  },

  // ---- Snapshots ---------------------------------------------------------------------------------------------------

  // Some bytes of the one that the module was given as `snapshot`.
  tierlimit_read_snapshot: function (from, to, size) {
    HEAPU8.set(Module['snapshot'].subarray(from, from + size), to);
  },

  // ---- Classes -----------------------------------------------------------------------------------------------------

  // Class by type, and the address of each object that is not deleted.
  $classes: {},
  $addresses: 'new WeakMap()',

  $overload: function (overloads, name, values) {
    var found = overloads[values.length];
    if (found) return found;
    throw new TypeError(
      `${name} takes ${Object.keys(overloads).join(' or ')} arguments; got ${values.length}`,
    );
  },

  $addressOf__deps: ['$addresses'],
  $addressOf: function (object, name) {
    var address = addresses.get(object);
    if (address) return address;
    throw new TypeError(`${name} is called on what is no object of its class, or was deleted`);
  },

  _embind_register_class__deps: [
    '$cText',
    '$classes',
    '$addresses',
    '$addressOf',
    '$overload',
    '$getWasmTableEntry',
  ],
  _embind_register_class: function (
    type,
    pointerType,
    constPointerType,
    base,
    actualSignature,
    actual,
    upSignature,
    up,
    downSignature,
    down,
    name,
    destructorSignature,
    destructor,
  ) {
    name = cText(name);
    var constructors = {};
    var Class = class {
      constructor(...values) {
        addresses.set(this, overload(constructors, `new ${name}`, values)(values));
      }
      delete() {
        var address = addressOf(this, `${name}.delete`);
        addresses.delete(this);
        if (!broken) guard(getWasmTableEntry(destructor))(address);
      }
      isDeleted() {
        return !addresses.has(this);
      }
    };
    Object.defineProperty(Class, 'name', { value: name });
    if (Symbol.dispose) Class.prototype[Symbol.dispose] = Class.prototype.delete;
    Module[name] = Class;
    classes[type] = { name, constructors, methods: {}, prototype: Class.prototype };
  },

  $typeList: function (count, pointer) {
    return [...HEAPU32.subarray(pointer >> 2, (pointer >> 2) + count)];
  },

  _embind_register_class_constructor__deps: ['$classes', '$invoke', '$typeList'],
  _embind_register_class_constructor: function (
    type,
    count,
    list,
    signature,
    invoker,
    constructor,
  ) {
    // The result and the arguments.
    var types = typeList(count, list).slice(1);
    classes[type].constructors[types.length] = (values) =>
      invoke(invoker, [constructor], types, values);
  },

  _embind_register_class_function__deps: [
    '$cText',
    '$classes',
    '$invoke',
    '$typeList',
    '$overload',
    '$addressOf',
    '$written',
  ],
  _embind_register_class_function: function (type, name, count, list, signature, invoker, context) {
    name = cText(name);
    var { name: className, methods, prototype } = classes[type];
    var fullName = `${className}.${name}`;
    // The result, the object and the arguments.
    var types = typeList(count, list).slice(2);
    var overloads = (methods[name] ??= {});
    overloads[types.length] = (address, values) => {
      invoke(invoker, [context, address], types, values);
      return written[0].pop();
    };
    prototype[name] = function (...values) {
      return overload(overloads, fullName, values)(addressOf(this, fullName), values);
    };
  },

  // Emscripten 6 links setitimer when it optimizes at link time, for the sake of what its timer calls.
  _setitimer_js__deps: [],
  _setitimer_js: function () {},
});
