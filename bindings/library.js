// The JavaScript side of embind, as much of it as the module uses, in place of Emscripten's: 6 kB gzipped of pointers,
// inheritance, smart pointers and encodings go. embind.cpp sees no difference. A class has its constructors and methods
// (overloaded by the number of arguments), delete, isDeleted and Symbol.dispose.
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

  // Makes a type known by how it crosses: to C++, back, and read from where C++ has put it for a val. Emscripten 3.1.6
  // tells types apart by their names.
  $register__deps: ['$registeredTypes'],
  $register: function (type, toWireType, fromWireType, readValueFromPointer) {
    registeredTypes[type] = {
      name: String(type),
      toWireType: toWireType,
      fromWireType: fromWireType,
      readValueFromPointer: readValueFromPointer,
      argPackAdvance: 8,
      destructorFunction: null,
    };
  },

  $checked: function (type, value) {
    if (typeof value != type) throw new TypeError(`a ${type} is needed; got a ${typeof value}`);
    return value;
  },

  _embind_register_bool__deps: ['$register', '$checked'],
  _embind_register_bool: function (type) {
    register(
      type,
      (destructors, value) => +checked('boolean', value),
      (wire) => !!wire,
      (pointer) => !!HEAPU8[pointer],
    );
  },

  _embind_register_integer__deps: ['$register', '$checked'],
  _embind_register_integer: function (type, name, size, least) {
    if (size != 4) return;
    register(
      type,
      (destructors, value) => checked('number', value),
      (wire) => (least == 0 ? wire >>> 0 : wire),
      (pointer) => (least == 0 ? HEAPU32 : HEAP32)[pointer >> 2],
    );
  },

  _embind_register_float__deps: ['$register', '$checked'],
  _embind_register_float: function (type, name, size) {
    if (size != 8) return;
    register(
      type,
      (destructors, value) => checked('number', value),
      (wire) => wire,
      (pointer) => HEAPF64[pointer >> 3],
    );
  },

  // As WTF-8: UTF-8 that also has a form for a lone surrogate, so that different strings stay different. On the wire: the
  // length, then the bytes. Embind registers a string of unsigned char beside, which nobody uses.
  _embind_register_std_string__deps: [
    '$register',
    '$checked',
    '$registeredTypes',
    'malloc',
    'free',
  ],
  _embind_register_std_string: function (type) {
    var fromWireType = (pointer) => {
      var text = '';
      var at = pointer + 4;
      for (var end = at + HEAPU32[pointer >> 2]; at < end;) {
        var point = HEAPU8[at++];
        var more = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        if (more) point &= 0x3f >> more;
        while (more--) point = (point << 6) | (HEAPU8[at++] & 0x3f);
        text += String.fromCodePoint(point);
      }
      _free(pointer);
      return text;
    };
    register(
      type,
      (destructors, value) => {
        // A code unit takes three bytes at the most: a pair takes four.
        var size = 4 + 3 * checked('string', value).length;
        var pointer = _malloc(size);
        if (!pointer) throw new RangeError(`no memory for a string of ${value.length} code units`);
        destructors.push(_free, pointer);
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
      fromWireType,
      (pointer) => fromWireType(HEAPU32[pointer >> 2]),
    );
  },

  // Types that the module does not use.
  _embind_register_bigint: function () {},
  _embind_register_memory_view: function () {},
  _embind_register_std_wstring: function () {},

  // Calls C++ with `first` and the values; `types` are those of the result and of the values.
  $invoke__deps: ['$registeredTypes', '$runDestructors', '$getWasmTableEntry'],
  $invoke: function (invoker, first, types, values) {
    var destructors = [];
    try {
      var wires = values.map((value, i) =>
        registeredTypes[types[i + 1]]['toWireType'](destructors, value),
      );
      var result = guard(() => getWasmTableEntry(invoker)(...first, ...wires))();
      return registeredTypes[types[0]]['fromWireType'](result);
    } finally {
      if (!broken) runDestructors(destructors);
    }
  },

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
    '$registeredTypes',
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
    // What a constructor's invoker returns.
    registeredTypes[pointerType] = { fromWireType: (address) => address };
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
    var types = typeList(count, list);
    classes[type].constructors[count - 1] = (values) =>
      invoke(invoker, [constructor], types, values);
  },

  _embind_register_class_function__deps: [
    '$cText',
    '$classes',
    '$invoke',
    '$typeList',
    '$overload',
    '$addressOf',
  ],
  _embind_register_class_function: function (type, name, count, list, signature, invoker, context) {
    name = cText(name);
    var { name: className, methods, prototype } = classes[type];
    var fullName = `${className}.${name}`;
    // The result and the arguments. (A rest element in a pattern stops the optimizer of Emscripten 3.1.69.)
    var types = typeList(count, list);
    types.splice(1, 1);
    var overloads = (methods[name] ??= {});
    overloads[types.length - 1] = (address, values) =>
      invoke(invoker, [context, address], types, values);
    prototype[name] = function (...values) {
      return overload(overloads, fullName, values)(addressOf(this, fullName), values);
    };
  },

  // What val needs of the rest of embind.
  $registerType__deps: ['$registeredTypes'],
  $registerType: function (type, registered) {
    registeredTypes[type] = registered;
  },
  $throwBindingError__deps: [],
  $throwBindingError: function (message) {
    throw new TypeError(message);
  },
  $getTypeName__deps: [],
  $getTypeName: function (type) {
    return String(type);
  },
  $readLatin1String__deps: ['$cText'],
  $readLatin1String: function (pointer) {
    return cText(pointer);
  },

  // Emscripten 6 links setitimer when it optimizes at link time, for the sake of what its timer calls.
  _setitimer_js__deps: [],
  _setitimer_js: function () {},
});
