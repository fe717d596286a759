import { createRequire } from "node:module";

/** Optional, and left out by a package manager that cannot run its install script. CI makes sure that it is there. */
export const isOnnxRuntimeInstalled = ((): boolean => {
  try {
    createRequire(import.meta.url).resolve("onnxruntime-node");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return false;
    throw error;
  }
})();
