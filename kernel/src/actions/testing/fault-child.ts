import { openDatabase } from "../../platform/database/database.ts";
import { openBench, person } from "./bench.ts";
import { faultEffects } from "./fault-effects.ts";

/**
 * A kernel's part in the fault test: recovers, then commits the test's action, or undoes the one that is
 * named. The environment says at which failpoint it dies.
 */
const [root = "", state = "", task = "", id = ""] = process.argv.slice(2);
const bench = await openBench({ roots: [{ name: "root", path: root }], state, openDatabase });
await bench.actions.recover();
if (task === "commit") await bench.perform(...faultEffects);
if (task === "undo") await bench.actions.undo(person, id);
await bench[Symbol.asyncDispose]();
