/**
 * Takes `Request` and `Response` away from a thread that will load the SDK: the SDK asks whether there are such, and
 * Node then loads the whole of its HTTP client into the thread, which takes longer than all of the SDK. They are
 * removed, not defined anew: that would load it too.
 */
for (const name of ["Request", "Response"]) Reflect.deleteProperty(globalThis, name);
