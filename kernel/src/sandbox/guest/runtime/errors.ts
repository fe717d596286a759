import {
  dictionary,
  getPrototypeOf,
  hasOwn,
  sliceText,
  splitText,
  startsWith,
  stringOf,
} from "./intrinsics.ts";

/** How many `cause`s of an error are reported. */
const maxCauses = 4;

/** A thrown value, for a JSON-RPC error. `stack` still names the bundle; the kernel maps it. */
interface ThrownFacts {
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
}

/** Never throws, whatever was thrown: getters and `toString` may be the program's own code. */
export function factsOf(thrown: unknown): ThrownFacts {
  try {
    if (!(thrown instanceof Error)) {
      const message = textOf(thrown);
      return { message, stack: `Thrown: ${message}` };
    }
    const code = (thrown as { code?: unknown }).code;
    const facts = { message: stringOf(thrown.message), stack: stackOf(thrown, maxCauses) };
    return typeof code === "string" ? { ...facts, code } : facts;
  } catch (error) {
    const message =
      isOutOfMemory(thrown) || isOutOfMemory(error)
        ? outOfMemory
        : "An error that cannot be read was thrown.";
    return { message, stack: "" };
  }
}

/** The engine's own message. */
const outOfMemory = "out of memory";

/** Returns true if the engine ran out of memory. It throws `null` if there is not even enough for an error. */
export function isOutOfMemory(thrown: unknown): boolean {
  try {
    return thrown === null || (thrown instanceof Error && thrown.message === outOfMemory);
  } catch (error) {
    return error === null;
  }
}

function textOf(thrown: unknown): string {
  if (thrown === null) return "null (what the engine throws when there is no memory left for an error)";
  if (typeof thrown === "string") return thrown;
  if (typeof thrown === "object" && thrown !== null && hasOwn(thrown, "message")) {
    return stringOf((thrown as { message: unknown }).message);
  }
  return stringOf(thrown);
}

/**
 * Makes the engine's stack look like V8's: adds the headline that it lacks, and hides the constructors of error
 * classes that it shows.
 */
function stackOf(error: Error, causesLeft: number): string {
  const headline = error.message === "" ? error.name : `${error.name}: ${error.message}`;
  const stack = typeof error.stack === "string" ? error.stack : "";
  // The stack may have been set by hand, or captured by an SDK at the place of a call.
  const frames = startsWith(stack, headline) ? sliceText(stack, headline.length + 1) : stack;
  const text = `${headline}\n${withoutConstructors(frames, error)}`;
  const cause: unknown = error.cause;
  if (cause === undefined || causesLeft === 0) return text;
  const causeText = cause instanceof Error ? stackOf(cause, causesLeft - 1) : textOf(cause);
  return `${text}\nCaused by: ${causeText}`;
}

function withoutConstructors(frames: string, error: Error): string {
  const lines = splitText(frames, "\n");
  const classes = dictionary<true>();
  for (let type = getPrototypeOf(error); type !== null; type = getPrototypeOf(type)) {
    const name: unknown = type.constructor?.name;
    if (typeof name === "string" && name !== "") classes[`    at ${name}`] = true;
  }
  let from = 0;
  while (classes[splitText(lines[from] ?? "", " (")[0] ?? ""] === true) from++;
  let text = "";
  for (let index = from; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line !== "") text += text === "" ? line : `\n${line}`;
  }
  return text;
}
