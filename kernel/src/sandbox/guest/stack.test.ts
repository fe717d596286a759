import { expect, it } from "vitest";
import { mapReportedLine, mapStack, placeInStack } from "./stack.ts";
import { startFiles, type TestGuest } from "./testing/run-guest.ts";

/** The line numbers matter: the tests check where each error was thrown. */
const helper = `export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
type Box = { value: number };
interface Deep { inner?: Deep; call(): void }

export function plain(box: Box): number {
  // a comment that the bundler drops

  if (box.value > 0) {
    return 1;
  }
  return 2;
}

export async function afterAwait(box: Box): Promise<number> {
  if (box.value > 0) {
    await pause();
    throw new Error("after an await");
  }
  return 2;
}

export const arrow = async (box: Box): Promise<number> => {
  for (const value of [box.value]) {
    await pause();
    if (value) throw new TypeError(\`in an arrow \${value}\`);
  }
  return 2;
};

export function property(deep: Deep): unknown {
  const first = 1;
  return first + (deep.inner!.inner!.inner as unknown as number);
}

export function noFunction(deep: Deep): void {
  deep.inner?.call();
  deep.call();
}

export class OwnError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OwnError";
  }
}
export class DeeperError extends OwnError {}

export function own(): never {
    throw new DeeperError(
      "of its own " +
        "class",
    );
}

export function assigned(): never {
  throw Object.assign(new Error("assigned"), { code: "Mine" });
}

export function variable(): never {
  const error = new Error("made before");
  throw error;
}

export function nested(): number[] {
  return [1].map((value) => {
    if (value) return inner(value);
    return 0;
  });
}
function inner(value: number): number {
  if (value) { throw new RangeError("inner"); }
  return 1;
}

export function unicode(): never {
  const text = "äöü€😀"; throw new Error(text);
}

export function caused(): never {
  try {
    inner(1);
  } catch (cause) {
    throw new Error("outer", { cause });
  }
}
export function text(): never {
  throw "only a text";
}
export function parse(): unknown {
  return JSON.parse("{bad");
}
`;
const agent = `import { defineAgent } from "@lares/sdk";
import * as helper from "./lib/helper.ts";

export default defineAgent({
  hooks: {
    async run({ kind }: any, ctx) {
      const argument = kind === "afterAwait" || kind === "arrow" || kind === "plain" ? { value: 1 } : {};
      if (kind === "kernel") return read(ctx);
      await (helper as any)[kind](argument);
    },
  },
});

async function read(ctx: any) {
  const ok = 1;
  return ctx.vdfs.readText(\`\${ok}.txt\`);
}
`;

interface Thrown {
  readonly message: string;
  readonly word?: string;
  readonly mapped: string;
}

async function thrownBy(guest: TestGuest, kind: string): Promise<Thrown> {
  return await guest.request("hook", { handler: "run", event: { kind } }).then(
    () => {
      throw new Error(`${kind} threw nothing`);
    },
    (error: unknown) => error as Thrown,
  );
}

it("shows where each kind of error was thrown in the author's TypeScript, also after an await", async () => {
  await using guest = await startFiles({ "agent.ts": agent, "lib/helper.ts": helper });
  guest.onCall = () => {
    throw Object.assign(new Error("not yours"), { code: "PermissionDenied" });
  };
  await guest.initialize();
  const check = async (kind: string, headline: string, ...frames: string[]): Promise<Thrown> => {
    const thrown = await thrownBy(guest, kind);
    const [first, ...rest] = thrown.mapped.split("\n");
    const program = rest.filter((line) => !line.includes("(native)")).map((line) => line.trim());
    expect([first, ...program.slice(0, frames.length)], kind).toEqual([headline, ...frames]);
    expect(thrown.mapped, kind).not.toMatch(/agent\.js|lares:runtime|sdk:|program:/);
    return thrown;
  };
  // A throw statement is reported at its keyword, no matter what follows.
  await check("afterAwait", "Error: after an await", "at afterAwait (lib/helper.ts:17:5)");
  await check("arrow", "TypeError: in an arrow 1", "at arrow (lib/helper.ts:25:16)");
  await check("own", "OwnError: of its own class", "at own (lib/helper.ts:49:5)");
  await check("unicode", "Error: äöü€😀", "at unicode (lib/helper.ts:76:26)");
  expect((await check("assigned", "Error: assigned", "at assigned (lib/helper.ts:56:3)")).word).toBe("Mine");
  // Frames of callers have the exact line; the column is the engine's, at the call's arguments.
  await check(
    "nested",
    "RangeError: inner",
    "at inner (lib/helper.ts:71:16)",
    "at <anonymous> (lib/helper.ts:66:29)",
    "at nested (lib/helper.ts:65:14)",
    "at run (agent.ts:9:35)",
  );
  // An error created elsewhere is reported at its `new`.
  await check("variable", "Error: made before", "at variable (lib/helper.ts:60:17)");
  // An error of the engine is reported at the beginning of the expression.
  await check(
    "property",
    "TypeError: cannot read property 'inner' of undefined",
    "at property (lib/helper.ts:32:19)",
  );
  await check("noFunction", "TypeError: not a function", "at noFunction (lib/helper.ts:37:8)");
  await check("parse", expect.stringContaining("SyntaxError: ") as string, "at parse (lib/helper.ts:90:15)");
  // A refusal by the kernel is reported at the call.
  const refused = await check("kernel", "LaresError: not yours", "at read (agent.ts:16:31)");
  expect(refused.word).toBe("PermissionDenied");
  await check("text", "Thrown: only a text");
  const caused = await check("caused", "Error: outer", "at caused (lib/helper.ts:83:5)");
  expect(caused.mapped).toContain("Caused by: RangeError: inner\n    at inner (lib/helper.ts:71:16)");
});

it("leaves text without frames unchanged", () => {
  const map = JSON.stringify({ version: 3, sources: [], names: [], mappings: "" });
  for (const text of ["", "plain", "two\nlines", "at agent.js without a place"])
    expect(mapStack(text, map)).toBe(text);
  expect(mapStack("Error: x\n    at f (agent.js:1:1)", map)).toBe("Error: x");
});

it("ignores a path that a guest wrote into its stack", () => {
  const map = JSON.stringify({
    version: 3,
    sources: ["program:agent.ts", "sdk:a.ts"],
    names: [],
    mappings: "AAAA",
  });
  const forged = "Error: x\n    at f (../../secret.txt:1:1)\n    at g (/etc/passwd:1:1)";
  expect(placeInStack(forged, map)).toBeNull();
  expect(placeInStack(`${forged}\n    at h (agent.js:1:1)`, map)).toEqual({ path: "agent.ts", line: 1 });
});

it("a line of stderr that says nothing to the author is dropped, and the author's own frames are kept", () => {
  const map = JSON.stringify({
    version: 3,
    sources: ["program:agent.ts"],
    names: [],
    // Line 1 is the author's; line 2 has a segment without a source, as the SDK's code has; line 3 has none.
    mappings: "AAAA;A;",
  });
  const lines = [
    "Error: no weather",
    "    at advise (agent.js:1:1)",
    "    at call (agent.js:2:1)",
    "    at wrap (agent.js:3:1)",
    "    at run (lares:runtime:727:36)",
    "   ",
    "",
  ];
  const dropped = [null, null, null, null, null];
  expect(lines.map((line) => mapReportedLine(line, map))).toEqual([
    "Error: no weather",
    "    at advise (agent.ts:1:1)",
    ...dropped,
  ]);
  // A program that was not bundled here has no map.
  expect(mapReportedLine("    at advise (agent.js:1:1)", undefined)).toBe("    at advise (agent.js:1:1)");
  expect(mapReportedLine("    at run (lares:runtime:727:36)", undefined)).toBeNull();
});
