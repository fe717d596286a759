/** Programs that use CPU time in every way that their language allows. */

const handler = (body: string, before = ""): string => `
import { defineAgent } from "@lares/sdk";
${before}
export default defineAgent({ hooks: { async go(event, ctx) { ${body} } } });
`;

export const spinInHandler = handler("for (;;);");

export const spinAtLoad = "for (;;);\nexport default {};\n";

/** Never returns to the guest's own loop: each promise's job creates the next. */
export const spinInPromises = handler(
  // No link of the chain waits for the next one; otherwise it would run out of memory first on a fast machine.
  "const again = () => void Promise.resolve().then(again); again(); await new Promise(() => {});",
);

/** The same with a function that the engine calls by itself. */
export const spinInThenable = handler(
  "await { then(resolve) { resolve(this); } };", // resolving with itself asks for its `then` again
);

/** Answers at once, and computes afterwards, when no request is open. */
export const spinBehind = handler("setTimeout(() => { for (;;); }, 0);");

/** A little at a time: no single turn is long. */
export const spinInTimers = handler(
  "const spin = () => { for (let i = 0; i < 20_000; i++); setTimeout(spin, 0); }; for (let i = 0; i < 5_000; i++) setTimeout(spin, 0);",
);

export const manyTimers = handler("for (;;) setTimeout(() => {}, 1e8);");

/** Inside the engine's own code, where no JavaScript runs. */
export const spinInPattern = handler('/^(a+)+$/.test("a".repeat(40) + "!");');

export const spinInTool = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { async go() {} },
  tools: { async compute() { for (;;); } },
});
`;

/** Computes only at shutdown. */
export const spinAtShutdown = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { async go() {} },
  async onShutdown() { for (;;); },
});
`;

export const arrays = handler("const all = []; for (;;) all.push(new Array(10_000).fill(all.length));");

export const leaks = handler("for (;;) globalThis.kept = { kept: globalThis.kept };");

/** With the engine's message: when exactly memory runs out differs from run to run. */
export const outOfMemoryBehind = handler(
  'queueMicrotask(() => { throw new Error("out of memory"); }); await new Promise(() => setTimeout(() => {}, 1e8));',
);

export const manyTexts = handler('const all = []; for (;;) all.push("x".repeat(100_000) + all.length);');

export const buffers = handler("const all = []; for (;;) all.push(new Uint8Array(1_000_000).fill(1));");

/** Catches the errors about its memory and continues. */
export const stubbornBuffers = handler(
  "const all = []; for (;;) try { all.push(new Uint8Array(1_000_000).fill(1)); } catch {}",
);

export const recursion = handler("const down = (n) => 1 + down(n + 1); down(0);");

/** The engine's own recursion, in C. */
export const deepJson = handler(
  "let nested = {}; for (let i = 0; i < 100_000; i++) nested = { nested }; JSON.stringify(nested);",
);

export const deepProgram = handler('new Function("return " + "[".repeat(200_000) + "]".repeat(200_000))();');

/** As many calls as the stack is deep, to the power of two. */
export const catchesRecursion = handler(
  "const down = () => { try { down(); } finally { down(); } }; down();",
);
