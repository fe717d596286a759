import { openBench, person } from "../../../kernel/src/actions/testing/bench.ts";
import type { EffectInput } from "../../../kernel/src/base/vocabulary/action.ts";
import { openDatabase } from "../../../kernel/src/platform/database/database.ts";

/**
 * A kernel's part: recovers, then performs the given effects, or undoes the newest action. It may die at a failpoint.
 */
const [root = "", state = "", task = "", effects = "[]"] = process.argv.slice(2);
const bench = await openBench({ roots: [{ name: "root", path: root }], state, openDatabase });
await bench.actions.recover();
if (task === "perform") await bench.perform(...(JSON.parse(effects) as EffectInput[]));
const [newest] = await bench.actions.list({ limit: 1 });
if (task === "undo" && newest?.state === "Committed") await bench.actions.undo(person, newest.id);
await bench[Symbol.asyncDispose]();
