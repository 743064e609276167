// What replaces parts of Emscripten's JavaScript library in the module: text crosses as UTF-16 alone, and aborting is an
// Error. Each part that goes takes its helpers with it (UTF-8, UTF-32, TextDecoder): 1.7 kB gzipped.
mergeInto(LibraryManager.library, {
  // embind registers every C++ type it knows; the module uses none of these.
  _embind_register_bigint: function () {},
  _embind_register_memory_view: function () {},
  _embind_register_std_string: function () {},

  // Of std::wstring, std::u16string and std::u32string only the second is used. Embind's own would decode it by
  // TextDecoder, which replaces lone surrogates and drops a byte order mark. On the wire: length, code units.
  _embind_register_std_wstring__deps: ['$registerType', 'malloc', 'free'],
  _embind_register_std_wstring: function (rawType, charSize) {
    if (charSize != 2) return;
    registerType(rawType, {
      name: 'string',
      'fromWireType': (pointer) => {
        var text = '';
        var length = HEAPU32[pointer >> 2];
        for (var unit = (pointer + 4) >> 1, end = unit + length; unit < end; ++unit) {
          text += String.fromCharCode(HEAPU16[unit]);
        }
        _free(pointer);
        return text;
      },
      'toWireType': (destructors, text) => {
        if (typeof text != 'string') throw new TypeError('a string is needed, not ' + typeof text);
        var pointer = _malloc(4 + 2 * text.length);
        if (!pointer) throw new RangeError('no memory for a string of ' + text.length + ' code units');
        HEAPU32[pointer >> 2] = text.length;
        for (var i = 0, unit = (pointer + 4) >> 1; i < text.length; ++i) {
          HEAPU16[unit + i] = text.charCodeAt(i);
        }
        if (destructors !== null) destructors.push(_free, pointer);
        return pointer;
      },
      'argPackAdvance': 8,
      'readValueFromPointer': function (pointer) {
        return this['fromWireType'](HEAPU32[pointer >> 2]);
      },
      destructorFunction: (pointer) => _free(pointer),
    });
  },

  // The minimal runtime throws a bare string.
  abort: function () {
    throw new Error('The tierlimit module aborted');
  },
});
