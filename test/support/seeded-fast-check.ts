import fc from "fast-check";
import { seedOfThisRun } from "./seed.ts";

// Vitest gives tests this module for "fast-check" (vitest.config.ts), so that all tests are seeded. It has only the
// default export: an import by name fails instead of bypassing the seed.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOfThisRun() });

export default fc;
