import fc from "fast-check";
import { seedOfThisRun } from "./seed.ts";

// Vitest gives tests this module for "fast-check" (vitest.config.ts), so that no test draws by chance. It has the
// default export only: an import by name would fail instead of escaping the seed.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOfThisRun() });

export default fc;
