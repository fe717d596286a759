/**
 * Removes `Request` and `Response` from a thread that will load the SDK. The SDK checks whether they exist, and the
 * check makes Node.js load its whole HTTP client, which takes longer than loading the SDK. They are deleted,
 * because redefining them would load the client, too.
 */
for (const name of ["Request", "Response"]) Reflect.deleteProperty(globalThis, name);
