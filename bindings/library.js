// The JavaScript side of embind, as much of it as embind.cpp calls for, and of what methods return (result.hpp). It takes
// the place of Emscripten's: 7 kB gzipped of pointers, inheritance, smart pointers, types and encodings go. A class has its
// constructors and methods (overloaded by the number of arguments), delete, isDeleted and Symbol.dispose.
//
// Beside the size: an argument of the wrong type is a TypeError instead of NaN or 0, a lone surrogate crosses unchanged
// (TextDecoder would replace it), and nothing leaks when a later argument is refused.
//
// Functions that C++ calls are written as `function`: Emscripten 3.1.6 takes no other.
// What grows memory has two names.
var growing = '$growMemory' in LibraryManager.library ? 'growMemory' : 'emscripten_realloc_buffer';

mergeInto(LibraryManager.library, {
  $cText: function (pointer) {
    var text = '';
    while (HEAPU8[pointer]) text += String.fromCharCode(HEAPU8[pointer++]);
    return text;
  },

  // ---- Arguments ---------------------------------------------------------------------------------------------------

  // What typeof says of a type's values, by the address that stands for the type in C++; and whether one may be left out,
  // with all others of its call that may be.
  $argumentTypes: {},
  $optionalTypes: {},

  tierlimit_argument_type__deps: ['$cText', '$argumentTypes', '$optionalTypes'],
  tierlimit_argument_type: function (type, name, optional) {
    argumentTypes[type] = cText(name);
    optionalTypes[type] = optional;
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
        // Of numbers and booleans a call makes what C++ takes; of what is left out NaN, and an address of 0.
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
  tierlimit_write_numbers__deps: ['$cText', '$written'],
  tierlimit_write_numbers: function (names, at) {
    var inside = written[written.length - 1];
    for (var name of cText(names).split(' ')) {
      var value = HEAPF64[at >> 3];
      inside[name] = value < 0 ? null : value;
      at += 8;
    }
  },
  tierlimit_write_boolean__deps: ['$write'],
  tierlimit_write_boolean: function (name, value) {
    write(name, !!value);
  },
  tierlimit_write_bytes__deps: ['$write'],
  tierlimit_write_bytes: function (name, at, size) {
    write(name, HEAPU8.slice(at, at + size));
  },
  tierlimit_write_text__deps: ['$write'],
  tierlimit_write_text: function (name, at, size) {
    var text = at ? '' : null;
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

  // The one that there is: its name, its constructors by the number of their arguments, and its prototype; and the address
  // of each object that is not deleted.
  $theClass: {},
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
    '$theClass',
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
    var { [name]: Class } = {
      [name]: class {
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
      },
    };
    if (Symbol.dispose) Class.prototype[Symbol.dispose] = Class.prototype.delete;
    Module[name] = Class;
    theClass = { name, constructors, prototype: Class.prototype };
  },

  // A list of types without the first ones: the result, and the object of a method.
  $typeList: function (count, pointer, skipped) {
    pointer >>= 2;
    return [...HEAPU32.subarray(pointer + skipped, pointer + count)];
  },

  _embind_register_class_constructor__deps: ['$theClass', '$invoke', '$typeList'],
  _embind_register_class_constructor: function (
    type,
    count,
    list,
    signature,
    invoker,
    constructor,
  ) {
    var types = typeList(count, list, 1);
    theClass.constructors[types.length] = (values) => invoke(invoker, [constructor], types, values);
  },

  _embind_register_class_function__deps: [
    '$cText',
    '$theClass',
    '$invoke',
    '$typeList',
    '$overload',
    '$addressOf',
    '$written',
    '$optionalTypes',
  ],
  _embind_register_class_function: function (type, name, count, list, signature, invoker, context) {
    name = cText(name);
    var fullName = `${theClass.name}.${name}`;
    var types = typeList(count, list, 2);
    var required = types.filter((type) => !optionalTypes[type]).length;
    var call = (address, values) => {
      invoke(invoker, [context, address], types, values);
      return written[0].pop();
    };
    var overloads = { [required]: call, [types.length]: call };
    theClass.prototype[name] = function (...values) {
      return overload(overloads, fullName, values)(addressOf(this, fullName), values);
    };
  },

  // ---- Memory ------------------------------------------------------------------------------------------------------

  // Emscripten's, with less that it tells and tries. A twentieth more than there was, if that is to be had.
  emscripten_resize_heap__deps: [`$${growing}`],
  emscripten_resize_heap:
    growing === 'growMemory'
      ? function (size) {
          size >>>= 0;
          return growMemory(Math.max(size, HEAPU8.length * 1.05)) || growMemory(size);
        }
      : function (size) {
          size >>>= 0;
          return (
            emscripten_realloc_buffer(Math.max(size, HEAPU8.length * 1.05)) ||
            emscripten_realloc_buffer(size)
          );
        },

  // Emscripten 6 links setitimer when it optimizes at link time, for the sake of what its timer calls.
  _setitimer_js__deps: [],
  _setitimer_js: function () {},
});
